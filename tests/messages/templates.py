"""Templates: the text of an f-string whose expressions are placeholders with simple names."""

import ast
import re

ENDINGS = 4  # characters: a shorter choice is grammar, such as the s of a plural
NO_MESSAGES = {"[A-Za-z]+$", "bank"}  # strings on the way to a message that are none


def joined_sum(node: ast.BinOp) -> ast.JoinedStr:
    """The sum of texts as one f-string, in which other parts are placeholders."""
    values: list[ast.expr] = []
    for side in (node.left, node.right):
        part = side
        if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Add):
            part = joined_sum(side)
        if isinstance(part, ast.JoinedStr):
            values.extend(part.values)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            values.append(part)
        else:
            values.append(ast.FormattedValue(part, conversion=-1))
    return ast.JoinedStr(values)


def template_of(node: ast.expr) -> str:
    """The text with named placeholders; braces are doubled, as in `str.format`."""
    if isinstance(node, ast.Constant):
        return escaped(str(node.value))
    assert isinstance(node, ast.JoinedStr)
    names: dict[str, str] = {}
    parts = []
    for value in node.values:
        if isinstance(value, ast.FormattedValue):
            parts.append(f"{{{unique_name(value.value, names)}}}")
        elif isinstance(value, ast.Constant):
            parts.append(escaped(str(value.value)))
    return "".join(parts)


def escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def unique_name(expression: ast.expr, names: dict[str, str]) -> str:
    """A name for a placeholder: the same for the same expression, otherwise another."""
    code = ast.unparse(expression)
    if code not in names:
        name = "s" if is_ending(expression) else simple_name(expression)
        taken = set(names.values())
        names[code] = next(
            each for each in (name, *(f"{name}{n}" for n in range(2, 99))) if each not in taken
        )
    return names[code]


def is_ending(expression: ast.expr) -> bool:
    """Whether an expression chooses between endings, such as the s of a plural."""
    return isinstance(expression, ast.IfExp) and all(
        isinstance(side, ast.Constant) and len(str(side.value).strip()) < ENDINGS
        for side in (expression.body, expression.orelse)
    )


def simple_name(expression: ast.expr) -> str:
    """The last plain name in an expression, such as `id` of `entry.id`."""
    if isinstance(expression, ast.Attribute):
        return expression.attr.strip("_").lower()
    if isinstance(expression, ast.Name):
        return expression.id.strip("_").lower()
    if isinstance(expression, ast.Call):
        if expression.args:
            return simple_name(expression.args[0])
        return simple_name(expression.func)
    for child in ast.iter_child_nodes(expression):
        if isinstance(child, ast.expr):
            return simple_name(child)
    return "value"


def is_english(template: str) -> bool:
    """Whether there is something to translate: a word outside of the placeholders."""
    text = re.sub(r"\{\w+\}", "", template)
    return re.search(r"[A-Za-z]{2}", text) is not None and template not in NO_MESSAGES
