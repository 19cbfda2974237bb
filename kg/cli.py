"""The `liantu` command: the questions and the commands of entry points; a KgError is one line and an exit code.

Exit codes: 0 success; 1 the question cannot be answered; 2 usage error; 3 some input was refused, the rest was
processed; 4 knowledge base error; 5 model error.
"""

from __future__ import annotations

import io
import os
import sys
from datetime import UTC, datetime
from difflib import get_close_matches
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

import click

from kg.commands.language import (
    CommandContext,
    choose_language,
    help_in,
    language_of,
    shown_lang,
    usage_text,
    with_lang,
)
from kg.commands.questions import COMMANDS, question_command
from kg.errors import DocumentError, KgError, QuestionError, StoreError
from kg.llm.port import ModelError
from kg.messages.words import LANGUAGES, translated, word

if TYPE_CHECKING:
    from collections.abc import Sequence

GROUP = "liantu.commands"
SECTIONS = {
    "Start here": ("ingest", "explore", "ask", "doctor"),
    "Questions": (*(name for name in COMMANDS if " " not in name and name != "ask"), "filing"),
    "Pictures": ("draw", "exhibit"),
    "Care of a base": ("read", "remove", "weekly", "index", "entity", "securities", "check"),
    "Language models": ("llm", "verify"),
    "In and out": ("import", "export", "links", "dump", "copy", "extract", "resolve"),
    "Services": ("serve", "mcp"),
}
EXIT_QUESTION, EXIT_USAGE, EXIT_REFUSED, EXIT_STORE, EXIT_MODEL = 1, 2, 3, 4, 5
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells count


class EntryPointGroup(click.Group):
    """The commands of the questions and of the entry points, imported on demand."""

    context_class = CommandContext

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line, the language first."""
        choose_language(ctx, args)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- signature set by click
        """Return the names of all installed commands."""
        return sorted(
            {*(each for each in COMMANDS if " " not in each), *(point.name for point in entry_points(group=GROUP))}
        )

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in sections; one that no section names comes last."""
        known = self.list_commands(ctx)
        others = set(known).difference(*SECTIONS.values())
        for title, names in {**SECTIONS, "More": tuple(sorted(others))}.items():
            found = [(name, command) for name in names if name in known and (command := self.get_command(ctx, name))]
            if found:
                with formatter.section(title):
                    formatter.write_dl([(name, command.get_short_help_str(limit=100)) for name, command in found])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command by name, or return None if there is none."""
        if cmd_name in COMMANDS:
            return help_in(question_command(cmd_name), shown_lang())
        for point in entry_points(group=GROUP, name=cmd_name):
            command: click.Command = point.load()
            return help_in(with_lang(command), shown_lang())
        near = get_close_matches(cmd_name, self.list_commands(ctx), n=1)
        if near:
            raise click.UsageError(f"no command {cmd_name!r}; did you mean {near[0]!r}?", ctx)
        return None


@click.group(cls=EntryPointGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--lang", type=click.Choice(list(LANGUAGES)), expose_value=False, help="language of the output")
@click.version_option(package_name="liantu", message="%(prog)s %(version)s")
@click.pass_context
def root(context: click.Context) -> None:
    """Read dated research, keep facts with sources, ask and draw industry chains."""
    context.obj = datetime.now(UTC)  # recording time of everything the command writes


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; the entry point of `liantu`."""
    lang = language_of(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # print ? for characters that the console cannot encode
    try:
        sys.exit(root(args=arguments, prog_name="liantu", standalone_mode=False) or 0)
    except click.ClickException as error:
        click.echo(usage_text(error, lang), err=True)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo(word("cli.interrupted", lang), err=True)
        sys.exit(EXIT_INTERRUPTED)
    except KgError as error:
        click.echo(word("cli.error", lang, error=error.worded(lang)), err=True)
        sys.exit(exit_code(error))
    except OSError as error:
        fault = f"{error.filename or word('cli.output', lang)}: {translated(error.strerror or str(error), lang)}"
        click.echo(word("cli.error", lang, error=fault), err=True)
        if (
            error.filename is None and sys.stdout is sys.__stdout__
        ):  # avoid a second error when buffers are flushed at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(EXIT_USAGE)


def exit_code(error: KgError) -> int:
    """Return the exit code of an error."""
    codes = (
        (QuestionError, EXIT_QUESTION),
        (DocumentError, EXIT_REFUSED),
        (StoreError, EXIT_STORE),
        (ModelError, EXIT_MODEL),
    )
    for kind, code in codes:
        if isinstance(error, kind):
            return code
    return EXIT_USAGE
