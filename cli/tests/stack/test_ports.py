"""Ports are chosen once, kept, and given up only to a stranger."""

import socket
from pathlib import Path

from assay_cli.stack import ports


def test_ports_are_remembered(tmp_path: Path) -> None:
    first = ports.settle(tmp_path / "ports.json", ["a", "b"])
    assert len(set(first.values())) == 2
    assert ports.settle(tmp_path / "ports.json", ["a", "b"]) == first


def test_a_new_name_leaves_the_other_ports_alone(tmp_path: Path) -> None:
    first = ports.settle(tmp_path / "ports.json", ["a"])
    assert ports.settle(tmp_path / "ports.json", ["a", "b"])["a"] == first["a"]


def test_a_port_taken_by_a_stranger_is_chosen_anew(tmp_path: Path) -> None:
    first = ports.settle(tmp_path / "ports.json", ["a", "b"])
    with socket.socket() as stranger:
        stranger.bind((ports.HOST, first["a"]))
        stranger.listen()
        second = ports.settle(tmp_path / "ports.json", ["a", "b"])
    assert second["a"] not in first.values()
    assert second["b"] == first["b"]
    assert ports.remembered(tmp_path / "ports.json") == second


def test_ports_lie_below_those_of_outgoing_connections() -> None:
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert all(port < max(lowest, 32_000) for port in ports.choose(["a", "b", "c"]).values())
