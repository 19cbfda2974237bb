"""The one door from data to HTML: a strict template environment, data that cannot leave its script, a tight policy.

Names, titles and quotes come from documents that anybody may have written. Templates escape everything; data goes into
a `type="application/json"` block in which no `<` is left; scripts write text nodes only; and the page's own policy lets
nothing run but the very scripts whose hashes it names, and asks the network for nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from viz.wording import Lang, word

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from viz.claims import SceneEvidence

_JSON_ESCAPES: Final = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


@dataclass(frozen=True, slots=True)
class ProseLine:
    """One sentence with the quotes it rests on; an indented one belongs to the line above."""

    text: str
    evidence: tuple[SceneEvidence, ...] = ()
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Prose:
    """Lines beside a picture, under a heading; `note` says how they were found; `groups` are lists of names.

    `more` holds further headings with their lines: what changed, a biography.
    """

    heading: str
    lines: tuple[ProseLine, ...] = ()
    note: str = ""
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()
    more: tuple[tuple[str, tuple[ProseLine, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One page of a run: its file (relative to the index), its name, what it is about, and how much is in it."""

    file: str
    name: str
    description: str = ""
    note: str = ""


def as_json(data: Any) -> Markup:
    r"""Return data for a JSON block inside HTML; the same data is always the same text.

    >>> print(as_json({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # A lone surrogate from a broken PDF cannot be written as UTF-8; it is shown as the replacement character.
    text = text.encode("utf-8", "replace").decode()
    return Markup(text.translate(_JSON_ESCAPES))  # noqa: S704 - escaped on this very line


def render(
    template: str, *, lang: Lang, title: str, scripts: Sequence[str] = (), library: str = "", **data: Any
) -> str:
    """Fill one of our templates.

    Args:
        template: file name under viz/static.
        lang: language of the page.
        title: the page's title, unescaped.
        scripts: our own and the library's scripts, trusted; their hashes are all that the page may run.
        library: a script file in the page's own folder; the page may then run files from where it comes from too.
        data: what else the template asks for.
    """
    html = (
        _environment(lang)
        .get_template(template)
        .render(
            lang={"zh": "zh-CN"}.get(lang, lang),
            title=title,
            policy=_policy(scripts, library),
            library=library,
            scripts=[Markup(script) for script in scripts],  # noqa: S704 - files of this package, never data
            **data,
        )
    )
    return html.encode("utf-8", "replace").decode()


def index_page(title: str, entries: Iterable[IndexEntry], *, lang: Lang = "zh", subtitle: str = "") -> str:
    """Return the page that links the pages of a run."""
    return render("index.html.j2", lang=lang, title=title, subtitle=subtitle, entries=tuple(entries))


def _environment(lang: Lang) -> Environment:
    environment = Environment(
        loader=PackageLoader("viz", "static"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["word"] = lambda key, **parts: word(key, lang, **parts)
    return environment


def _policy(scripts: Sequence[str], library: str) -> str:
    hashes = [f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in scripts]
    # A hash cannot stand for a file: a page opened from a disk has no origin that could vouch for it.
    allowed = " ".join([*hashes, *(["'self'", "file:"] if library else [])]) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
