"""The setup finds what it needs on any machine, and repeats nothing that did not change."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

_SCRIPT = Path(__file__).parents[2] / "scripts" / "setup.py"


@pytest.fixture(scope="module")
def setup() -> ModuleType:
    spec = importlib.util.spec_from_file_location("assay_setup", _SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_uv_is_installed_by_the_hashes_of_the_one_lock(setup: ModuleType) -> None:
    pinned: str = setup.locked("uv")
    assert pinned.startswith("uv==")
    assert pinned.count("--hash=sha256:") > 1
    assert not any(line.startswith("uvicorn") for line in pinned.splitlines())


def test_the_lock_names_no_address() -> None:
    assert "://" not in (_SCRIPT.parents[1] / "requirements.lock").read_text(encoding="utf-8")


def test_what_pip_was_told_holds_for_uv(setup: ModuleType) -> None:
    listed = "global.index-url='file:///mirror'\n:env:.find-links='/wheels\\n/more'\nglobal.timeout='60'\n"
    told: dict[str, str] = setup.told_to_pip(listed)
    assert told == {"UV_DEFAULT_INDEX": "file:///mirror", "UV_FIND_LINKS": "/wheels,/more"}


def test_a_missing_home_is_replaced_by_a_folder_of_the_checkout(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(setup, "ROOT", tmp_path)
    monkeypatch.setenv("HOME", "")
    monkeypatch.delenv("UV_CACHE_DIR", raising=False)
    environment: dict[str, str] = setup.base_environment()
    assert Path(environment["HOME"]).is_relative_to(tmp_path)
    assert Path(environment["UV_CACHE_DIR"]).is_relative_to(tmp_path)


def test_a_step_is_repeated_only_when_its_inputs_changed(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(setup, "STAMPS", tmp_path / "stamps")
    given = tmp_path / "input"
    done: list[str] = []
    for content in ("one", "one", "two"):
        given.write_text(content)
        setup.once("step", [given], lambda: done.append("done"))
    assert len(done) == 2


def test_an_old_python_is_refused_in_words(setup: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "OLDEST", (sys.version_info[0], sys.version_info[1] + 1))
    with pytest.raises(setup.SetupFailed, match="or newer is needed"):
        setup.check_machine()
