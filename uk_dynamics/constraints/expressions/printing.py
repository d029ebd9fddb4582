"""Trees back to text: what is printed parses to an equal tree."""

from __future__ import annotations

from uk_dynamics.constraints.expressions.nodes import (
    TIME_NAME,
    Call,
    Expression,
    Number,
    Power,
    Product,
    Sum,
    Variable,
)

_RATES = ("{}", "d({})", "dd({})")


def to_text(node: Expression) -> str:
    """Write a tree as an expression; joints appear under their own names."""
    match node:
        case Number(value):
            return _number(value)
        case Variable(name, order):
            return "t" if name == TIME_NAME else _RATES[order].format(name)
        case Sum(terms):
            return _sum(terms)
        case Product(factors):
            sign = "-" if isinstance(factors[0], Number) and factors[0].value == -1.0 else ""
            return sign + "*".join(_factor(f) for f in (factors[1:] if sign else factors))
        case Power(base, exponent):
            if isinstance(exponent, Number) and exponent.value == 0.5:
                return f"sqrt({to_text(base)})"
            negative = isinstance(base, Number) and base.value < 0.0
            shown = f"({to_text(base)})" if negative else _atom(base)
            return f"{shown}**{_atom(exponent)}"
        case Call(function, arguments):
            return f"{function}({', '.join(to_text(a) for a in arguments)})"
    raise TypeError(f"no text for {type(node).__name__}")


def _sum(terms: tuple[Expression, ...]) -> str:
    text = to_text(terms[0])
    for term in terms[1:]:
        part = to_text(term)
        text += f" - {part[1:]}" if part.startswith("-") else f" + {part}"
    return text


def _factor(node: Expression) -> str:
    return f"({to_text(node)})" if isinstance(node, Sum) else to_text(node)


def _atom(node: Expression) -> str:
    text = to_text(node)
    plain = isinstance(node, Number | Variable | Call) or text.startswith("sqrt(")
    return text if plain else f"({text})"


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
