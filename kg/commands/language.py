"""The language of a command: its option, and what is wrong with a command line in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kg.errors import SettingsError
from kg.messages.words import LANGUAGES, translated, word
from kg.settings import load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kg.messages.words import Lang

_META = "liantu.lang"


def lang_option(command: Callable[..., Any], *, passed: bool = True) -> Callable[..., Any]:
    """Add --lang; the command gets its value if it is `passed`, and `shown_lang` returns it in any case."""
    return click.option(
        "--lang",
        type=click.Choice(list(LANGUAGES)),
        default=lambda: load().lang,
        show_default="zh",
        help="输出语言",
        is_eager=True,
        expose_value=passed,
        callback=_remember,
    )(command)


def _remember(context: click.Context, _: click.Parameter, value: Lang) -> Lang:
    context.meta[_META] = value
    return value


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
