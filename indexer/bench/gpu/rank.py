"""One of several ranks that share a device, as `icons bench gpu` starts them under torchrun.

torchrun --nproc-per-node 2 -m indexer.bench.gpu.rank --library DIR --fingerprint HASH --given JSON
"""

import json
from pathlib import Path

import click

from indexer.embedding.device import DeviceSpec
from indexer.embedding.embed import run_rank, spec_of
from indexer.embedding.options import EmbedOptions
from indexer.library.folder import Library
from indexer.ranks.distributed import Rank


@click.command()
@click.option("--library", "root", type=click.Path(path_type=Path), required=True)
@click.option("--fingerprint", required=True)
@click.option("--given", required=True, help="Name of the device that all ranks share, and `EmbedOptions`, as JSON.")
def main(root: Path, fingerprint: str, given: str) -> None:
    """Embed what this rank claims, on the device of all."""
    facts = json.loads(given)
    options = EmbedOptions(**facts["options"])

    def shared(_: Rank) -> DeviceSpec:
        import torch

        return spec_of(torch.device(facts["device"]), options)

    run_rank(Library(root), fingerprint, spec_of=shared)


if __name__ == "__main__":
    main()
