"""`python -m assay_cli.stack supervise|install`: the daemon that `assay up` starts, and the last step of the setup."""

import argparse
import sys
from pathlib import Path

from assay_cli.stack import kafka_jars, pids
from assay_cli.stack.errors import StackError
from assay_cli.stack.layout import Layout
from assay_cli.stack.supervisor import supervise


def _supervise(options: argparse.Namespace) -> int:
    home: Path = options.home
    members: str = options.members
    owner_pid: int | None = options.owner
    owner = pids.running(owner_pid) if owner_pid is not None else None
    if owner_pid is not None and owner is None:
        return 0
    return supervise(Layout(home), members.split(","), owner)


def _install(_options: argparse.Namespace) -> int:
    try:
        kafka_jars.install_with_bar()
    except StackError as failure:
        sys.stderr.write(f"{failure}\n")
        return 1
    return 0


def main() -> int:
    """Read the command line that `Stack.up` or the setup writes."""
    parser = argparse.ArgumentParser(prog="python -m assay_cli.stack")
    acts = parser.add_subparsers(required=True)
    supervising = acts.add_parser("supervise", help="keep the processes of one home running")
    supervising.add_argument("--home", type=Path, required=True)
    supervising.add_argument("--members", required=True, help="names of parts and processes, with commas between")
    supervising.add_argument("--owner", type=int, help="stop when this process is gone")
    supervising.set_defaults(act=_supervise)
    acts.add_parser("install", help="fetch what no wheel brings").set_defaults(act=_install)
    options = parser.parse_args()
    code: int = options.act(options)
    return code


sys.exit(main())
