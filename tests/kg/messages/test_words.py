"""Both languages have the same texts, and every message that a reader may meet has its Chinese."""

from __future__ import annotations

import ast
import re
from importlib import resources
from pathlib import Path

import pytest
import yaml

from kg.errors import DocumentError, KgError, StoreMissing, UnknownName
from kg.messages.words import PLACEHOLDER, Listed, rendered, translated, word

ROOT = Path(__file__).parents[3]
HAN = re.compile(r"[\u4e00-\u9fff]")


def read(name: str) -> dict:
    return yaml.safe_load(resources.files("kg.messages").joinpath(name).read_text(encoding="utf-8"))


WORDS, PHRASES = read("words.yaml"), read("phrases.zh.yaml")


@pytest.mark.parametrize("key", WORDS)
def test_a_text_is_in_both_languages_with_the_same_placeholders(key: str):
    texts = WORDS[key]
    assert set(texts) == {"zh", "en"}
    assert set(PLACEHOLDER.findall(texts["zh"])) == set(PLACEHOLDER.findall(texts["en"]))
    assert not HAN.search(texts["en"])


@pytest.mark.parametrize("template", PHRASES)
def test_a_phrase_keeps_the_placeholders_of_its_template(template: str):
    assert set(PLACEHOLDER.findall(template)) == set(PLACEHOLDER.findall(PHRASES[template]))


def test_no_key_stands_twice():
    for name in ("words.yaml", "phrases.zh.yaml"):
        node = yaml.compose(resources.files("kg.messages").joinpath(name).read_text(encoding="utf-8"))
        keys = [key.value for key, _ in node.value]
        assert sorted(set(keys)) == sorted(keys)


def test_every_key_that_the_code_uses_exists():
    used = set()
    for path in sources():
        for call in ast.walk(tree(path)):
            if (
                isinstance(call, ast.Call)
                and getattr(call.func, "id", "") == "word"
                and not path.is_relative_to(ROOT / "viz")
            ):
                used |= {
                    each for each in strings(call.args[0]) if "." in each and "7" not in each and not each.endswith(".")
                }
    assert len(used) > 80
    assert used <= set(WORDS)


def test_a_message_is_translated_with_its_parts():
    error = DocumentError("a.pdf", "12 pages, more than 3,000", "split it into single reports")
    assert error.worded("zh") == "a.pdf：12 页，超过 3,000 页的上限；请拆成单篇报告"
    assert str(error) == error.worded("en") == "a.pdf: 12 pages, more than 3,000; split it into single reports"
    assert StoreMissing("kb").worded("zh").startswith("kb：这里没有知识库")
    assert UnknownName("火星", ["火箭", "火山"]).worded("zh") == "未找到「火星」；相近的名称：火箭、火山"
    assert UnknownName("火星", ["火箭", "火山"]).worded("en") == "nothing is called “火星”; similar names: 火箭, 火山"


def test_an_error_speaks_the_language_that_is_set():
    error = StoreMissing("kb")
    error.lang = "zh"
    assert "这里没有知识库" in str(error)


def test_a_message_with_an_unknown_part_stays_english_as_a_whole():
    error = DocumentError("a.pdf", "something that nobody foresaw", "split it into single reports")
    assert error.worded("zh") == "a.pdf: something that nobody foresaw; split it into single reports"
    assert translated("cannot be read: gremlins at work", "zh") == "cannot be read: gremlins at work"
    assert KgError("no such thing").worded("zh") == "no such thing"


def test_parameters_may_hold_anything():
    assert rendered("{path}: {cause}", {"path": "{x}", "cause": "not a knowledge base"}, "zh") == "{x}：不是知识库"
    assert str(Listed(["a", "b"])) == "a, b"
    assert translated('write {"id": …, "text": …, "date": …}', "zh") == '请写成 {"id": …, "text": …, "date": …}'
    assert word("period", "en", period="2024") == " [2024]"


def test_every_message_of_an_error_has_its_chinese():
    missing = []
    for path in sources():
        missing += [text for text in messages(tree(path)) if not HAN.search(translated(text, "zh"))]
    assert not missing


# Errors that a reader meets, and how many of their last arguments are sentences.
ERRORS = {"DocumentError": 2} | dict.fromkeys(
    (
        *("KgError", "SettingsError", "StoreUnusable", "JudgementRefused", "FileUnwritable", "ExportRefused"),
        *("Overloaded", "ClusterUnavailable", "WorkerFailed", "ModelError", "EndpointRefused"),
        *("VocabularyError", "MasterFault", "InvalidCode", "BadRow", "DumpUnreadable", "EncoderMissing"),
    ),
    1,
)


def messages(module: ast.Module) -> list[str]:
    """Return the sentences that errors are raised with, every parameter being 7; a name is followed to its value."""
    found = []
    for scope in ast.walk(module):
        if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        nodes = list(ast.walk(scope))
        values = {
            target.id: node.value
            for node in nodes
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in nodes:
            call = node.exc if isinstance(node, ast.Raise) else None
            if isinstance(call, ast.Call) and name_of(call) in ERRORS:
                for argument in call.args[-ERRORS[name_of(call)] :]:
                    value = values.get(argument.id, argument) if isinstance(argument, ast.Name) else argument
                    found += [text for text in strings(value) if re.search("[A-Za-z]{3,} [A-Za-z]{2,}", text)]
    return found


def name_of(call: ast.Call) -> str:
    return getattr(call.func, "id", "")


def strings(node: ast.expr) -> list[str]:
    """Return the texts an expression may be, with 7 for what is filled in."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.JoinedStr):
        return ["".join(str(part.value) if isinstance(part, ast.Constant) else "7" for part in node.values)]
    if isinstance(node, ast.IfExp):
        return [*strings(node.body), *strings(node.orelse)]
    if isinstance(node, ast.BoolOp):
        return [text for value in node.values for text in strings(value)]
    if isinstance(node, ast.Subscript):
        return strings(node.value)
    return []


def sources() -> list[Path]:
    return [path for part in ("kg", "extraction", "communities", "viz") for path in sorted((ROOT / part).rglob("*.py"))]


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))
