"""Render data to HTML safely: strict escaping templates, JSON data blocks, and a content security policy.

Names, titles and quotes come from untrusted documents. Templates escape everything; data goes into a
`type="application/json"` block without any `<`; scripts write text nodes only; and the page's policy allows only the
scripts whose hashes it lists, and no network requests.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from importlib.resources import files as resources
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from viz.wording import Lang, word

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from viz.claims import SceneEvidence

_KINDS: Final = ("", "chain", "impact", "causes", "relate", "theme", "profile")
_JSON_ESCAPES: Final = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


@dataclass(frozen=True, slots=True)
class ProseLine:
    """One sentence with its supporting quotes; an indented line belongs to the line above."""

    text: str
    evidence: tuple[SceneEvidence, ...] = ()
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Prose:
    """Text next to a graph: a heading, lines, a `note` on their origin, and `groups` of names.

    `more` holds further sections, such as changes and a biography.
    """

    heading: str
    lines: tuple[ProseLine, ...] = ()
    note: str = ""
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()
    more: tuple[tuple[str, tuple[ProseLine, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One page in the index: file (relative to the index), name, description, and a note on its size.

    `kind` is chain, impact, causes, relate, profile or theme, `about` the ids of what the page is about and `shows` the
    ids of what it shows.
    """

    file: str
    name: str
    description: str = ""
    note: str = ""
    kind: str = ""
    about: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()


def as_json(data: Any) -> Markup:
    r"""Return data as JSON that is safe inside an HTML script block; the output is deterministic.

    >>> print(as_json({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # A lone surrogate from a broken PDF cannot be encoded as UTF-8; replace it.
    text = text.encode("utf-8", "replace").decode()
    return Markup(text.translate(_JSON_ESCAPES))  # noqa: S704 - escaped on this line


def render(
    template: str, *, lang: Lang, title: str, scripts: Sequence[str] = (), files: Sequence[str] = (), **data: Any
) -> str:
    """Render a template.

    Args:
        template: file name under viz/static.
        lang: language of the page.
        title: the page's title, unescaped.
        scripts: trusted inline scripts; the policy allows their hashes only.
        files: script files in the page's folder; if there are any, the policy also allows files from the page's origin.
        data: further variables of the template.
    """
    html = (
        _environment(lang)
        .get_template(template)
        .render(
            lang={"zh": "zh-CN"}.get(lang, lang),
            title=title,
            policy=_policy(scripts, files),
            files=files,
            scripts=[Markup(script) for script in scripts],  # noqa: S704 - files of this package, never data
            **data,
        )
    )
    return html.encode("utf-8", "replace").decode()


def index_page(title: str, entries: Iterable[IndexEntry], *, lang: Lang = "zh", subtitle: str = "") -> str:
    """Return the index page of a folder, by kind of page, with a search box."""
    listed = tuple(entries)
    groups = [(kind, [entry for entry in listed if entry.kind == kind]) for kind in _KINDS]
    return render(
        "index.html.j2",
        lang=lang,
        title=title,
        scripts=[resources(__package__).joinpath("static", "index.js").read_text(encoding="utf-8")] if listed else [],
        subtitle=subtitle,
        count=len(listed),
        groups=[group for group in groups if group[1]],
    )


def _environment(lang: Lang) -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__, "static"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["word"] = lambda key, **parts: word(key, lang, **parts)
    return environment


def _policy(scripts: Sequence[str], files: Sequence[str]) -> str:
    hashes = [f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in scripts]
    # Script files cannot be allowed by hash here: a page opened from disk has no usable origin.
    allowed = " ".join([*hashes, *(["'self'", "file:"] if files else [])]) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
