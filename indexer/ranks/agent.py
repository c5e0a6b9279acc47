"""torchrun as `icons` starts it on one machine: it ends with its starter, its ranks with it, and it asks no network.

    python -m indexer.ranks.agent 5 2 indexer.embedding.embed ...

Agent and ranks meet in files of a temporary folder. By itself torchrun would listen on every network of the machine for
whoever wants to write into its store, and look up names for its log and for each address that it hears from. Which rank
ended first, with which exit code and error, is written into the pipe with that number, here 5.
"""

import json
import os
import shutil
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

from indexer import errors
from indexer.process import end_with_starter, named_as_starter
from indexer.ranks.distributed import MEETING

_PREFIX = "icons-ranks-"
_LONGEST = 4000
"""Of a message: a pipe holds that much for a reader who waits."""
LOOPBACK = "lo" if sys.platform == "linux" else "lo0"


def main() -> None:
    """Start the ranks that the command line names, and wait for them."""
    end_with_starter()
    _remove_leftovers()
    end, n_ranks, *program = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-") as folder:
        os.environ.update(named_as_starter() | {MEETING: folder})
        os.environ["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] = "1"
        os.environ.setdefault("GLOO_SOCKET_IFNAME", LOOPBACK)
        socket.getfqdn = lambda name="": "localhost"
        from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
        from torch.distributed.run import main as run

        try:
            run([*_meeting_in(folder), "--nproc-per-node", n_ranks, "-m", *program])
        except ChildFailedError as error:
            rank, failure = error.get_first_failure()
            facts = {"rank": rank, "exitcode": failure.exitcode, "message": _message(failure)}
            os.write(int(end), json.dumps(facts).encode())
            raise


def _message(failure: Any) -> str:
    """What a rank's error file says, of our own errors without their kind; nothing where it left none."""
    if not Path(failure.error_file).is_file():
        return ""
    lines = str(failure.error_file_data["message"]["message"]).strip().splitlines()
    message = (lines or [""])[0][:_LONGEST]
    kind, _, text = message.partition(": ")
    return text if hasattr(errors, kind) else message


def _remove_leftovers() -> None:
    """Clear away the folders of those that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        try:
            os.kill(int(folder.name.removeprefix(_PREFIX).partition("-")[0]), 0)
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except (OSError, ValueError, OverflowError):  # of another user, or none of ours
            continue


def _meeting_in(folder: str) -> list[str]:
    rendezvous = ["--nnodes", "1", "--rdzv-backend", "c10d", "--rdzv-id", "icons", "--rdzv-conf", "store_type=file"]
    return [*rendezvous, "--rdzv-endpoint", f"{folder}/agent", "--local-addr", "127.0.0.1", "--log-dir", folder]


if __name__ == "__main__":
    main()
