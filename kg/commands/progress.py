"""Progress of a long command on standard error: bars on a terminal, a line per stage in a log."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import click

from kg.commands.language import shown_lang, warn
from kg.messages.words import word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def progress_display() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function to be called with a stage (`stage.*` in words.yaml), its completed steps and all its steps."""
    began = time.perf_counter()
    shown: dict[str, Any] = {}  # the bar of the current stage
    with ExitStack() as stack:

        def progress(stage: str, done: int, total: int) -> None:
            label = word(f"stage.{stage}", shown_lang())
            if stage not in shown:
                stack.close()  # the bar of the stage before stays as it is
                shown.clear()
                bar = click.progressbar(length=total, label=label, show_pos=True, file=sys.stderr)
                shown[stage] = stack.enter_context(bar) if sys.stderr.isatty() else None
                if shown[stage] is None:
                    warn("stage", seconds=f"{time.perf_counter() - began:7.1f}", stage=label)
            if bar := shown[stage]:
                bar.update(done - bar.pos)

        yield progress
