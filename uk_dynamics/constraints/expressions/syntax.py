# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""From text to Python's syntax tree, past checks of its characters, length and depth.

What looks like ASCII and is not, and what no formula needs, does not reach Python's parser at all.
"""

import ast
import re
import unicodedata
import warnings
from typing import NoReturn

from uk_dynamics.constraints.expressions.whitelist import CHARACTERS, DEEPEST_NESTING, LONGEST_TEXT
from uk_dynamics.exceptions import ExpressionError

_EQUATION = re.compile(r"[^<>=!]=[^=]")
_IMPLICIT_PRODUCT = re.compile(r"\b[0-9.]+ *(?![eE][0-9+-])[A-Za-z_(]|\) *[A-Za-z0-9_(]")
_HINTS = {
    "^": "a power is written with **",
    "%": "there is no modulo; sin and cos are periodic already",
    ":": "there are no slices, lambdas or assignments in an expression",
    "#": "there are no comments in an expression",
    # what comes along when a formula is pasted from a paper
    "\N{MINUS SIGN}": "write -",
    "\N{EN DASH}": "write -",
    "\N{MULTIPLICATION SIGN}": "write *",
    "\N{MIDDLE DOT}": "write *",
    "\N{DOT OPERATOR}": "write *",
    "\N{DIVISION SIGN}": "write /",
    "\N{SUPERSCRIPT TWO}": "write **2",
    "\N{SUPERSCRIPT THREE}": "write **3",
    "\N{SQUARE ROOT}": "write sqrt(...)",
    "\N{GREEK SMALL LETTER PI}": "write pi",
}


def syntax(text: str) -> tuple[ast.expr, int]:
    """Parse a text that may go over several lines; nothing of it is run.

    Also returns how many characters stand before its first column.
    """
    plain = _checked_characters(text)
    start = len(plain) - len(plain.lstrip(" "))
    return _syntax(plain[start:], start), start


def nested_too_deep(column: int = 0) -> ExpressionError:
    """The error of a text that is nested beyond the bound."""
    problem = f"nested more than {DEEPEST_NESTING} deep; write it in fewer parentheses"
    return ExpressionError(problem, column=column)


def _checked_characters(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise ExpressionError(f"{len(text)} characters are too many; write at most {LONGEST_TEXT}")
    plain = "".join(" " if c in "\n\r\t" else c for c in text)
    depth = 0
    for column, character in enumerate(plain, start=1):
        if character not in CHARACTERS:
            _refuse_character(character, column)
        depth += (character in "([") - (character in ")]")
        if depth > DEEPEST_NESTING:
            raise nested_too_deep(column)
    if not plain.strip():
        raise ExpressionError("the expression is empty; write one, such as x - 0.5*t")
    return plain


def _refuse_character(character: str, column: int) -> NoReturn:
    if character.isascii():
        shown = character if character.isprintable() else f"U+{ord(character):04X}"
        hint = _HINTS.get(character, "use letters, digits, _ . + - * / ** ( ) [ ] and commas")
        raise ExpressionError(f'"{shown}" cannot stand here; {hint}', column=column)
    name = unicodedata.name(character, "unnamed")
    shown = f'"{character}" ' if character.isprintable() else ""
    hint = _HINTS.get(character, "write names in a-z")
    problem = f"character {shown}(U+{ord(character):04X}, {name}) is not ASCII; {hint}"
    raise ExpressionError(problem, column=column)


def _syntax(text: str, start: int) -> ast.expr:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python, about odd literals
            return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        reason = _remedy(text) or " ".join(str(error.msg).split())[:100]
        raise ExpressionError(f"no formula: {reason}", column=start + (error.offset or 1)) from None
    except (RecursionError, MemoryError):
        raise nested_too_deep() from None
    except ValueError:  # integers of thousands of digits
        raise ExpressionError("a number here is too large") from None


def _remedy(text: str) -> str:
    """What to write instead, where the mistake is a common one."""
    if _EQUATION.search(text):
        return "it is made zero, so write a = b as a - b"
    if _IMPLICIT_PRODUCT.search(text):
        return "a product is written with *, such as 2*x"
    return ""
