"""The wheel of this package carries the schemas."""

import subprocess
import sys
import zipfile
from pathlib import Path

from assay_contracts.schema import SCHEMAS
from assay_contracts.topics import TOPICS

PACKAGE = Path(__file__).parents[1]


def test_schemas_and_topics_ship_in_the_wheel(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=PACKAGE, check=True, capture_output=True)
    names = set(zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist())
    wanted = {f"assay_contracts/schemas/{name}.schema.json" for name in SCHEMAS}
    wanted |= {f"assay_contracts/schemas/topics/{name}.yaml" for name in TOPICS}
    assert wanted <= names
