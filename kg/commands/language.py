"""The language of a command line: its option, help, output and usage errors."""

from __future__ import annotations

from copy import copy
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

import click

from kg.errors import SettingsError
from kg.messages.words import BOTH, LANGUAGES, in_language, translated, word
from kg.settings import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kg.errors import KgError
    from kg.messages.words import Lang

_META = "liantu.lang"
_EXTRA = "  ["  # starts what click adds to the help of an option: its default and range


def lang_option(command: Callable[..., Any], *, passed: bool = True) -> Callable[..., Any]:
    """Add --lang; the command gets its value if it is `passed`, and `shown_lang` returns it in any case."""
    return click.option(
        "--lang",
        type=click.Choice(list(LANGUAGES)),
        default=lambda: click.get_current_context().meta.get(_META, load().lang),
        show_default="zh",
        help="language of the output",
        is_eager=True,
        expose_value=passed,
        callback=_remember,
    )(command)


def _remember(context: click.Context, _: click.Parameter, value: Lang) -> Lang:
    context.meta[_META] = value
    return value


class HelpInLanguage(click.HelpFormatter):
    """Writes click's own texts of the help in the language of the command line."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write the usage line."""
        super().write_usage(prog, args, word("cli.usage", shown_lang(), usage="") if prefix is None else prefix)

    def write_heading(self, heading: str) -> None:
        """Write a heading."""
        lang = shown_lang()
        self.write(f"{'':>{self.current_indent}}{translated(heading, lang)}{word('colon', lang).rstrip()}\n")

    def write_text(self, text: str) -> None:
        """Write what a command is for."""
        super().write_text(worded(text, shown_lang()))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write options or commands, each with its help."""
        super().write_dl([(name, _worded(text)) for name, text in rows], col_max, col_spacing)


def worded(text: str, lang: Lang) -> str:
    """Return a text of help, which is English or in both languages, in one language."""
    return str(in_language(text, lang)) if BOTH in text else translated(text, lang)


def _worded(text: str) -> str:
    help_text, bracket, extra = text.partition(_EXTRA)
    extras = [translated(each, shown_lang()) for each in extra.removesuffix("]").split("; ")]
    return worded(help_text, shown_lang()) + (f"{bracket}{'; '.join(extras)}]" if bracket else "")


class CommandContext(click.Context):
    """A context of which all help is in one language."""

    formatter_class = HelpInLanguage


def help_in(command: click.Command, lang: Lang) -> click.Command:
    """Return a copy of a command, and of all commands of a group, of which help and listing are in a language."""
    made = copy(command)
    made.context_class = CommandContext
    made.short_help = worded(cleandoc(command.help or ""), lang).partition("\n\n")[0]
    if isinstance(made, click.Group):
        made.commands = {name: help_in(each, lang) for name, each in made.commands.items()}
    return made


def with_lang(command: click.Command) -> click.Command:
    """Add --lang to a command, or to all commands of a group, that do not have it."""
    for each in command.commands.values() if isinstance(command, click.Group) else ():
        with_lang(each)
    runs = not isinstance(command, click.Group) or command.invoke_without_command
    if runs and not any("--lang" in option.opts for option in command.params):
        lang_option(command, passed=False)  # click appends to the parameters of a command
    return command


def shown_lang() -> Lang:
    """Return the language of the command that runs."""
    context = click.get_current_context(silent=True)
    lang: Lang = context.meta.get(_META, "zh") if context else "zh"
    return lang


def say(key: str, **parts: object) -> None:
    """Print the text of a key in the language of the command that runs."""
    click.echo(word(key, shown_lang(), **parts))


def warn(key: str, **parts: object) -> None:
    """Print the text of a key to standard error."""
    click.echo(word(key, shown_lang(), **parts), err=True)


def warn_of(fault: KgError) -> None:
    """Print what was refused to standard error."""
    warn("cli.refused", error=fault.worded(shown_lang()))


def choose_language(context: click.Context, arguments: Sequence[str]) -> None:
    """Set the language of a command line before it is parsed, so that its help has it too."""
    context.meta[_META] = language_of(arguments)


def language_of(arguments: Sequence[str]) -> Lang:
    """Return the language that a command line or the settings choose, for errors that come before it is parsed."""
    for place, argument in enumerate(arguments):
        name, _, value = argument.partition("=")
        if name == "--lang":
            value = value or "".join(arguments[place + 1 : place + 2])
            if value in LANGUAGES:
                return value
    try:
        return "en" if load().lang == "en" else "zh"
    except SettingsError:  # reported by the command itself
        return "zh"


def usage_text(error: click.ClickException, lang: Lang) -> str:
    """Return what is wrong with a command line, with how the command is used."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    fault = word("cli.error", lang, error=translated(error.format_message(), lang))
    if context is None:
        return fault
    pieces = " ".join((context.command_path, *context.command.collect_usage_pieces(context)))
    help_command = f"{context.command_path} --help"
    return "\n".join((word("cli.usage", lang, usage=pieces), word("cli.see", lang, command=help_command), "", fault))
