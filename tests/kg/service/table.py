"""The table of questions in docs/commands.md and docs/commands.zh-CN.md.

Refresh it with `python -m tests.kg.service.table` after an intended change of a question.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kg.commands.questions import COMMANDS
from kg.messages.words import in_language
from kg.query.questions.registry import question

if TYPE_CHECKING:
    from kg.messages.words import Lang

_DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGES: dict[Lang, Path] = {"en": _DOCS / "commands.md", "zh": _DOCS / "commands.zh-CN.md"}
BEGIN, END = "<!-- questions: `python -m tests.kg.service.table` -->", "<!-- end of questions -->"
_HEADS: dict[Lang, tuple[str, str, str]] = {
    "en": ("command", "Python, `/v1/` and MCP", "what it answers"),
    "zh": ("命令", "Python、`/v1/` 与 MCP", "回答什么"),
}
_DRAWN: dict[Lang, str] = {"en": "; with a picture", "zh": "；有图"}


def made(lang: Lang) -> str:
    """Return the table between its marks."""
    rows = [_HEADS[lang], ("---", "---", "---")]
    for command, key in COMMANDS.items():
        asked = question(key)
        about = " ".join(name.upper() for name, field in asked.model_fields.items() if field.is_required())
        summary = in_language(asked.summary(), lang)
        rows.append((f"`{f'liantu {command} {about}'.strip()}`", f"`{key}`", summary + _DRAWN[lang] * asked.is_drawn()))
    lines = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([BEGIN, "", *lines, "", END])


def written(lang: Lang) -> str:
    """Return the page with the table as it is now."""
    page = PAGES[lang].read_text(encoding="utf-8")
    return page[: page.index(BEGIN)] + made(lang) + page[page.index(END) + len(END) :]


if __name__ == "__main__":
    for _lang, _page in PAGES.items():
        _page.write_text(written(_lang), encoding="utf-8")
