"""The explorer's page, and a base written as files that open from disk without a server."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from kg.commands.files import FileUnwritable, replacing
from kg.messages.words import word

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kg.messages.words import Lang
    from viz.exhibit.content import ExhibitContent

SCRIPT, STYLE, LICENCES, PARTS = "explorer.js", "explorer.css", "LICENCES.txt", "liantu-parts"
_STATIC: Final = "static/explorer"
_COMMON: Final = "img-src data: blob:; base-uri 'none'; form-action 'none'"
SERVED_POLICY: Final = (
    f"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; {_COMMON}; frame-ancestors 'none'"
)
# A page opened from disk has no usable origin, so that 'self' allows nothing there.
_FOLDER_POLICY: Final = f"default-src 'none'; script-src 'self' file:; style-src 'self' file:; {_COMMON}"


_JSON_ESCAPES: Final = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def as_json(data: Any) -> str:
    r"""Return data as JSON that is safe inside an HTML script block; the same data give the same text.

    >>> print(as_json({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # A lone surrogate from a broken PDF cannot be encoded as UTF-8; replace it.
    return text.encode("utf-8", "replace").decode().translate(_JSON_ESCAPES)


def asset(name: str) -> str:
    """Return a file of the built bundle."""
    return resources.files(__package__).joinpath("..", _STATIC, name).read_text(encoding="utf-8")


def page(meta: dict[str, Any], *, lang: Lang, policy: str = "", scripts: str = "", style: str = "") -> str:
    """Return the explorer's page.

    Args:
        meta: what every view needs first, as of `ExhibitContent.meta`.
        lang: the language that the page starts with.
        policy: a content security policy for pages without a server.
        scripts: HTML of script elements; by default the bundle beside the page.
        style: HTML of the style sheet; by default that of the bundle.
    """
    style = style or f'<link rel="stylesheet" href="{STYLE}">'
    scripts = scripts or f'<script src="{SCRIPT}"></script>'
    title = escape(" · ".join(filter(None, (meta.get("title", ""), word("page.title", lang)))))
    code = {"zh": "zh-CN"}.get(lang, lang)
    guarded = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n' if policy else ""
    return (
        f'<!doctype html>\n<html lang="{code}">\n<head>\n<meta charset="utf-8">\n{guarded}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f'<link rel="icon" href="data:,">\n<title>{title}</title>\n'
        f"{style}\n</head>\n<body>\n"
        f'<div id="app"><noscript>{word("page.script_off", lang)}</noscript></div>\n'
        f'<script type="application/json" id="meta">{as_json({**meta, "lang": lang})}</script>\n'
        f"{scripts}\n</body>\n</html>\n"
    )


def write_exhibit(content: ExhibitContent, out: Path, *, lang: Lang, one_file: bool) -> Path:
    """Write a base as static files, the page last; return the page.

    Args:
        content: the base.
        out: the folder, whose other files are left alone; of one file also its name, which ends in .html.
        lang: the language that the page starts with.
        one_file: put everything into the page.

    Raises:
        FileUnwritable: when a file cannot be written.
    """
    named = one_file and out.suffix == ".html"
    folder, file = (out.parent, out) if named else (out, out / "index.html")
    try:
        (folder / ("" if one_file else PARTS)).mkdir(parents=True, exist_ok=True)
        for stale in [] if named else (folder / PARTS).glob("*.js"):
            stale.unlink()
    except OSError as error:
        raise FileUnwritable(folder, error.strerror or type(error).__name__) from error
    if one_file:
        _write(file, one_page(content, lang=lang))
        return file
    for name, data in packed_parts(content):
        _write(folder / PARTS / f"{name}.js", f'liantuPart("{name}","{data}")\n')
    for name in (SCRIPT, STYLE, LICENCES):
        _write(folder / name, asset(name))
    _write(file, page({**content.meta, "mode": "packed"}, lang=lang, policy=_FOLDER_POLICY))
    return file


def one_page(content: ExhibitContent, *, lang: Lang) -> str:
    """Return a page that holds its script, its style and all parts."""
    blocks = [f'<script type="text/plain" id="part:{name}">{data}</script>' for name, data in packed_parts(content)]
    script, style = asset(SCRIPT), asset(STYLE)
    policy = f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; {_COMMON}"
    scripts = "\n".join([*blocks, f"<script>{script}</script>"])
    meta = {**content.meta, "mode": "packed"}
    return page(meta, lang=lang, policy=policy, scripts=scripts, style=f"<style>{style}</style>")


def packed_parts(content: ExhibitContent) -> Iterator[tuple[str, str]]:
    """Yield all parts as compressed JSON in base64, by name; the index of entities last."""
    parts: list[tuple[str, set[str]]] = []
    for name, part, ends in content.parts():
        parts.append((name, ends))
        yield name, packed(part)
    places: dict[str, int] = {}
    for number, (name, texts) in enumerate(content.texts()):
        places |= dict.fromkeys(texts, number)
        yield name, packed(texts)
    yield "documents", packed(content.documents(places))
    for name, run in content.runs():
        yield name, packed(run)
    yield "lives", packed(content.lives())
    yield "contested", packed(content.contested)
    pictured: dict[str, int] = {}
    for number, (name, pictures) in enumerate(content.pictures()):
        pictured |= dict.fromkeys(pictures, number)
        yield name, packed(pictures)
    yield "index", packed(content.index(parts, pictured))


def packed(data: Any) -> str:
    """Return compressed JSON in base64; the same data give the same text."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    compressed = gzip.compress(text.encode("utf-8", "replace"), compresslevel=9, mtime=0)
    return base64.b64encode(compressed).decode()


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text)
