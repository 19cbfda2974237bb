"""Size budgets of STYLE.md: what keeps the tail of files and functions short."""

from __future__ import annotations

import ast

from tests.architecture.source import OUTSIDE, PACKAGES, Function, dotted, modules

FILE_LINES, FUNCTION_LINES = 500, 60
ARGUMENTS, POSITIONAL = 6, 3


def test_no_file_is_longer_than_500_lines():
    lengths = {module.name: len(module.text.splitlines()) for module in modules(*PACKAGES, *OUTSIDE)}
    assert {name: length for name, length in lengths.items() if length > FILE_LINES} == {}


def test_no_function_is_longer_than_60_lines():
    long = [
        module.at(function, f"{function.name} has {lines} lines")
        for module in modules(*PACKAGES, *OUTSIDE)
        for function in module.functions()
        if (lines := (function.end_lineno or 0) - function.lineno + 1) > FUNCTION_LINES
    ]
    assert not long, "\n".join(long)


def test_a_function_takes_at_most_six_arguments_and_three_by_position():
    """Click calls its commands by keyword; a private function's few calls stand in the same file as itself."""
    wide = [
        module.at(function, f"{function.name} takes {len(names)} arguments, {len(positional)} by position")
        for module in modules(*PACKAGES, "benchmarks")
        for function in module.functions()
        for positional, names in [_arguments(function)]
        if len(names) > ARGUMENTS or (len(positional) > POSITIONAL and not _is_exempt(function))
    ]
    assert not wide, "\n".join(wide)


def _arguments(function: Function) -> tuple[list[str], list[str]]:
    """Return the arguments that may be given by position, and all; the object itself is not counted."""
    positional = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    positional = positional[1:] if positional[:1] in (["self"], ["cls"]) else positional
    return positional, positional + [argument.arg for argument in function.args.kwonlyargs]


def _is_exempt(function: Function) -> bool:
    # A network that is exported to ONNX takes its inputs by position.
    return function.name.startswith("_") or function.name == "forward" or _is_command(function)


def _is_command(function: Function) -> bool:
    called = (each.func for each in function.decorator_list if isinstance(each, ast.Call))
    return any(dotted(each).split(".")[-1] in {"command", "group"} for each in called)
