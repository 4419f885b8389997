"""Change an answer in one place at a time: operators, numbers, names, arguments, slices, statements."""

import ast
import copy
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

ARITHMETIC = [ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult]
LOGIC = [ast.BitAnd, ast.BitOr, ast.BitXor]
JUNCTIONS = [ast.And, ast.Or]
ORDER = [ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE]
IDENTITY = [ast.Is, ast.IsNot, ast.Eq]
COMMUTATIVE = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)
OPERATORS = (ARITHMETIC, LOGIC, JUNCTIONS, ORDER, IDENTITY)
FAMILIES = """
    softmax log_softmax sigmoid relu tanh; relu gelu leaky_relu silu; sum mean prod max; max min; all any;
    argmax argmin; sin cos tan; sqrt square rsqrt exp log; zeros ones empty rand; tril triu; var std mean;
    cat stack hstack; eval train; unsqueeze squeeze; transpose swapaxes view reshape; view reshape;
    masked_fill masked_fill_; numel dim; size stride;
    xavier_uniform_ xavier_normal_ kaiming_uniform_ uniform_ zeros_; clip_grad_norm_ clip_grad_value_;
    parameters buffers named_parameters; Linear Identity Bilinear; LayerNorm RMSNorm BatchNorm1d;
    Dropout AlphaDropout Dropout1d Identity; Embedding Linear; ModuleList Sequential list;
    EncoderLayer DecoderLayer; Encoder Decoder; TokenEmbedding PositionalEncoding LearnedPositionalEncoding;
    causal_mask padding_mask decoder_mask; split_heads merge_heads; encode decode; src_embedding tgt_embedding;
    cross_entropy nll_loss; no_grad enable_grad; requires_grad is_leaf; shape T
"""
RELATIVES = [family.split() for family in FAMILIES.split(";")]  # a name is exchanged for each other one of its family


@dataclass(frozen=True)
class Mutant:
    """An answer, changed in one place."""

    change: str  # the statement before → after, behind the method's name where the answer is a class
    code: types.CodeType  # the whole changed cell
    source: str = ""  # the same in words, where that was asked for


def mutants(source: str, *, in_words: bool = False) -> list[Mutant]:
    """Make every mutant of an answer; those that Python compiles to the same code count once.

    Args:
        source: a cell; where it marks a solution, nothing else of it is changed.
        in_words: give each its source, without comments, too.
    """
    tree = ast.parse(source)
    seen, made = {_fingerprint(compile(tree, "answer", "exec"))}, []
    for change in _changes(tree, _solution_lines(source)):
        try:
            with warnings.catch_warnings(action="ignore"):
                code = compile(ast.fix_missing_locations(tree), "<mutant>", "exec")
        except (SyntaxError, ValueError, TypeError):
            continue
        if (fingerprint := _fingerprint(code)) not in seen:
            seen.add(fingerprint)
            made.append(Mutant(change, code, ast.unparse(tree) if in_words else ""))
    return made


def _solution_lines(source: str) -> set[int]:
    lines, inside = set(), False
    for number, line in enumerate(source.splitlines(), start=1):
        inside = (inside or "### BEGIN SOLUTION" in line) and "### END SOLUTION" not in line
        if inside:
            lines.add(number)
    return lines or set(range(1, len(source.splitlines()) + 1))


def _fingerprint(code: types.CodeType) -> tuple[object, ...]:
    """What a code object does, without its lines."""
    constants = [_fingerprint(value) if isinstance(value, types.CodeType) else repr(value) for value in code.co_consts]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return code.co_name, code.co_code, code.co_exceptiontable, code.co_flags, names, tuple(constants)


def _changes(tree: ast.Module, lines: set[int]) -> Iterator[str]:
    """Change the tree in one place at a time; each change is undone when the next is asked for."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    attributes = sorted({node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _is_self(node)})
    named: dict[ast.AST, ast.stmt] = {node.value: node for node in tree.body if isinstance(node, ast.Assign)}
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) and not (isinstance(function, ast.Lambda) and function in named):
            continue
        arguments = [node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)]
        all_names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
        stored = [node.id for node in all_names if isinstance(node.ctx, ast.Store)]
        names = [name for name in dict.fromkeys(arguments + stored) if name != "self"]
        prefix = f"{function.name}: " if classes and isinstance(function, ast.FunctionDef) else ""
        for statements, place in [([named[function]], 0)] if function in named else _statements(function):
            statement = statements[place]
            if statement.lineno not in lines:
                continue
            before = _header(statement)
            for block in () if function in named else _blocks(statements, place):
                kept = statements[:]
                statements[:] = block
                new = [_header(node) for node in block if node not in kept] or ["(deleted)"]
                swapped = len(block) == len(kept)
                after = _header(block[place]) + " first" if swapped and block[place] in kept else "; ".join(new)
                yield f"{prefix}{before} → {after}"
                statements[:] = kept
            for parent, field, index in _places(statement):
                held = getattr(parent, field)
                old = held if index is None else held[index]
                conditions = [ast.UnaryOp(ast.Not(), old), ast.Constant(True), ast.Constant(False)]
                others = conditions if field == "test" else []
                for replacement in chain(others, _replacements(old, names, attributes)):
                    _put(parent, field, index, replacement)
                    yield f"{prefix}{before} → {_header(statement)}"
                    _put(parent, field, index, old)


def _is_self(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def _statements(function: ast.AST) -> Iterator[tuple[list[ast.stmt], int]]:
    """Every statement below a node: its list and its place there."""
    for field in ("body", "orelse"):
        statements = getattr(function, field, [])
        for place in range(len(statements)):
            yield statements, place
            yield from _statements(statements[place])


def _header(statement: ast.stmt) -> str:
    """A statement in one line, without the statements in it."""
    alone = ast.fix_missing_locations(copy.copy(statement))
    for field in ("body", "orelse"):
        if hasattr(alone, field):
            setattr(alone, field, [])
    return " ".join(ast.unparse(alone).split())


def _places(statement: ast.stmt) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Every expression and operator of a statement, statements in it excepted: the node that holds it, and where."""
    nodes: list[ast.AST] = [statement]
    while nodes:
        node = nodes.pop()
        for field, value in ast.iter_fields(node):
            for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(child, ast.AST) and not isinstance(child, ast.stmt):
                    yield node, field, index
                    nodes.append(child)


def _put(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def _blocks(statements: list[ast.stmt], place: int) -> Iterator[list[ast.stmt]]:
    """What may stand in place of some statements: one left out, moved, unwrapped, in place, or ended early."""
    before, statement, after = statements[:place], statements[place], statements[place + 1 :]
    yield [*before, *after] or [ast.Pass()]
    if after:
        yield [*before, after[0], statement, *after[1:]]
    match statement:
        case ast.With(body=body):
            yield [*before, *body, *after]
        case ast.For() | ast.While():
            once = copy.copy(statement)
            once.body = [*statement.body, ast.Break()]
            yield [*before, once, *after]
            if after and isinstance(after[0], ast.Return):
                early = copy.copy(statement)
                early.body = [*statement.body, after[0]]
                yield [*before, early, *after]
        case ast.Assign(targets=[ast.Name() as target], value=ast.BinOp(left=ast.Name(id=name), op=op, right=right)):
            if target.id == name:
                yield [*before, ast.AugAssign(target, op, right), *after]
        case ast.AugAssign(target=target, op=op, value=value):
            yield [*before, ast.Assign([target], value), *after]


def _replacements(node: ast.AST, names: list[str], attributes: list[str]) -> Iterator[ast.AST]:
    """What may stand in place of an expression or an operator."""
    for family in OPERATORS:
        if type(node) in family:
            yield from (other() for other in family if other is not type(node))
    match node:
        case ast.Constant(value=bool() | None as value):
            yield from map(ast.Constant, {True, False, None} - {value})
        case ast.Constant(value=int() | float() as value):
            yield from map(ast.Constant, dict.fromkeys([value + 1, value - 1, value * 2, 0, -value]))
        case ast.Constant(value="sum"):
            yield ast.Constant("mean")
        case ast.Name(id=name, ctx=context):
            others = names if name in names else _relatives(name)
            yield from (ast.Name(other, context) for other in others if other != name)
        case ast.Attribute(value=value, attr=name, ctx=context):
            others = [*(attributes if _is_self(node) else []), *_relatives(name)]
            yield from (ast.Attribute(value, other, context) for other in others if other != name)
        case ast.BinOp(left=left, op=op, right=right):
            yield from (left, right)
            if not isinstance(op, COMMUTATIVE):
                yield ast.BinOp(right, op, left)
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.BoolOp(op=op, values=values):
            yield from values
            yield from (ast.BoolOp(op, rest) for rest in ([*values[:i], *values[i + 1 :]] for i in range(len(values))))
        case ast.Slice(lower=lower, upper=upper, step=step):
            yield from (ast.Slice(None, upper, step), ast.Slice(lower, None, step), ast.Slice(lower, upper))
            yield from (ast.Slice(bound, upper, step) for bound in _moved(lower))
            yield from (ast.Slice(lower, bound, step) for bound in _moved(upper))
        case ast.Call():
            yield from _calls(node)
        case ast.Tuple(elts=elements, ctx=ast.Load() as context):
            yield from (ast.Tuple(others, context) for others in _orders(elements))
        case ast.List(elts=elements, ctx=ast.Load() as context):
            yield from (ast.List(others, context) for others in _orders(elements))
        case ast.comprehension(target=target, iter=iterated, ifs=[_, *_] as conditions):
            yield ast.comprehension(target, iterated, [], 0)
            yield ast.comprehension(target, iterated, [ast.UnaryOp(ast.Not(), conditions[0])], 0)


def _relatives(name: str) -> list[str]:
    return [other for family in RELATIVES if name in family for other in family]


def _moved(bound: ast.expr | None) -> list[ast.expr]:
    if bound is None:
        return [ast.Constant(1), ast.Constant(-1)]
    return [ast.BinOp(bound, op, ast.Constant(1)) for op in (ast.Add(), ast.Sub())]


def _orders(items: list[ast.expr]) -> Iterator[list[ast.expr]]:
    """A list with one item left out, or with two exchanged."""
    for i in range(len(items)):
        yield [*items[:i], *items[i + 1 :]]
        for j in range(i):
            exchanged = items[:]
            exchanged[i], exchanged[j] = items[j], items[i]
            yield exchanged


def _calls(call: ast.Call) -> Iterator[ast.expr]:
    """A call with an argument less, two exchanged or one moved by 1, and what it is called with or on, alone."""
    function, arguments, keywords = call.func, call.args, call.keywords
    plain = [argument for argument in arguments if not isinstance(argument, ast.Starred)]
    yield from plain
    if isinstance(function, ast.Attribute):
        yield function.value
    yield from (ast.Call(function, others, keywords) for others in _orders(arguments))
    for i in range(len(keywords)):
        yield ast.Call(function, arguments, [*keywords[:i], *keywords[i + 1 :]])
    for i, argument in enumerate(plain):
        if isinstance(argument, ast.Name):
            for moved in _moved(argument):
                yield ast.Call(function, [*arguments[:i], moved, *arguments[i + 1 :]], keywords)
