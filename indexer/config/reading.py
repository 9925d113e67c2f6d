"""YAML and the environment to a Config, so that every fault has its line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml  # noqa: TID251
from pydantic import ValidationError  # noqa: TID251
from pydantic.fields import FieldInfo  # noqa: TID251

from indexer.config.settings import Config, Section
from indexer.errors import ConfigError

Key = tuple[str | int, ...]

_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}")
_TEXT, _NULL, _DATE = "tag:yaml.org,2002:str", "tag:yaml.org,2002:null", "tag:yaml.org,2002:timestamp"
_DEEPEST = 6
"""Levels; no key lies so deep, and an alias may contain itself."""
_SECRET = frozenset(("headers", "token", "api_key"))
_LONGEST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class _Fault:
    key: Key
    what: str


@dataclass
class _Source:
    """Where each key of the file stands, and the faults that were met on the way there."""

    environ: Mapping[str, str]
    lines: dict[Key, int] = field(default_factory=dict)
    faults: list[_Fault] = field(default_factory=list)

    def line(self, key: Key) -> int:
        while key and key not in self.lines:
            key = key[:-1]
        return self.lines.get(key, 1)


def load(path: Path, environ: Mapping[str, str]) -> Config:
    """The configuration in the file, with ${NAME} and ${NAME:-default} taken from `environ`.

    Raises ConfigError with every fault, its line and what is allowed.
    """
    text = _text(path)
    source = _Source(environ)
    try:
        root = yaml.compose(text, yaml.SafeLoader)
        if not isinstance(root, yaml.MappingNode):
            raise ConfigError(
                f"{path}: a configuration is a list of keys, `site:` first; `indexer init SITE` writes one"
            )
        _walk(root, (), source)
        values = yaml.SafeLoader("").construct_document(root)
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(_not_yaml(path, text, error)) from error
    try:
        config = Config.model_validate(_with_sections(values), context=path.parent)
    except ValidationError as error:
        details = [dict(detail) for detail in error.errors()]
        raise ConfigError(_message(path, source, [*source.faults, *_faults(details, source.faults)])) from error
    if source.faults:
        raise ConfigError(_message(path, source, source.faults))
    return config


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ConfigError(f"there is no {path}: `indexer init SITE` writes one, --config names another") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from error


def _not_yaml(path: Path, text: str, error: Exception) -> str:
    mark, position = getattr(error, "problem_mark", None), getattr(error, "position", None)
    number = mark.line if mark else text.count("\n", 0, position) if position else 0
    what = getattr(error, "problem", None) or getattr(error, "reason", None) or error
    quotes = "; inside {} and [] put quotes around ${NAME}" if "${" in text.split("\n")[number] else ""
    return f"{path}:{number + 1}: this is not YAML: {what}{quotes}"


def _walk(node: yaml.Node, at: Key, source: _Source) -> None:
    """Note where each key stands, and put the environment's values in their places before types are read."""
    source.lines.setdefault(at, node.start_mark.line + 1)
    if len(at) > _DEEPEST:
        return
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value != "<<":
                key.tag = _TEXT  # `on:` and `1:` are names here, too
            name = (*at, str(key.value))
            if name in source.lines:
                source.faults.append(_Fault(name, f"is given again in line {key.start_mark.line + 1}"))
            source.lines.setdefault(name, key.start_mark.line + 1)
            _walk(value, name, source)
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            _walk(value, (*at, number), source)
    elif isinstance(node, yaml.ScalarNode):
        _substitute(node, at, source)


def _substitute(node: yaml.ScalarNode, at: Key, source: _Source) -> None:
    """A variable's value is text, which the setting's own type reads: a key of digits stays a key."""

    def value(found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        if default is not None:
            return source.environ.get(name) or default
        if name not in source.environ:
            source.faults.append(_Fault(at, f"the environment has no variable {name}"))
        return source.environ.get(name, "")

    if node.tag == _DATE:  # no setting is one, and YAML stumbles over 2024-13-45
        node.tag = _TEXT
    if "${" not in node.value:
        return
    if "${" in _VARIABLE.sub("", node.value):
        source.faults.append(
            _Fault(at, f"{node.value!r} is not allowed: a variable is ${{NAME}} or ${{NAME:-default}}")
        )
    node.value = _VARIABLE.sub(value, node.value)
    node.tag = _NULL if node.value in ("", "~", "null") else _TEXT


def _with_sections(values: dict[Any, Any]) -> dict[Any, Any]:
    """A section that is absent, or whose keys are all commented out, has its defaults."""
    names = [name for name, info in Config.model_fields.items() if _is_section(info.annotation)]
    return values | {name: {} for name in names if values.get(name) is None}


def _is_section(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Section)


# --- faults ---------------------------------------------------------------------------------------------------------


def _message(path: Path, source: _Source, faults: list[_Fault]) -> str:
    ordered = sorted(
        {(source.line(fault.key), fault.key, fault.what) for fault in faults}, key=lambda f: (f[0], str(f[1]))
    )
    shown = [f"{path}:{line}: {'.'.join(map(str, key))}: {what}" for line, key, what in ordered]
    return "\n  ".join([f"{path} has {len(shown)} fault{'s' * (len(shown) > 1)}:", *shown])


def _faults(details: list[dict[str, Any]], known: list[_Fault]) -> list[_Fault]:
    """Pydantic's findings in our words; none for a key whose value did not come about."""
    without_value = {fault.key for fault in known}
    keys = [tuple(part for part in detail["loc"] if part != "[key]") for detail in details]
    return [_fault(key, detail) for key, detail in zip(keys, details, strict=True) if key not in without_value]


def _fault(key: Key, detail: dict[str, Any]) -> _Fault:
    match detail["type"]:
        case "extra_forbidden":
            return _Fault(key, f"unknown key; {_known_keys(key)}")
        case "missing":
            return _Fault(key, "is missing: the site's address, or the folder it is built into")
        case _:
            given = "its value" if _SECRET & set(key) else _shortened(repr(detail["input"]))
            return _Fault(key, f"{given} is not allowed: it must be {_allowed(key, detail)}")


def _known_keys(key: Key) -> str:
    known = list(_keys_of(key[:-1]))
    close = get_close_matches(str(key[-1]).lower(), known, n=1)
    return f"did you mean {close[0]}?" if close else f"allowed are {', '.join(known)}"


def _allowed(key: Key, detail: dict[str, Any]) -> str:
    match detail["type"]:
        case "value_error":
            return str(detail["ctx"]["error"])
        case "int_type" | "int_parsing" | "int_from_float":
            return f"a whole number{_range(key)}"
        case "float_type" | "float_parsing" | "greater_than_equal" | "less_than_equal":
            return f"a number{_range(key)}"
        case "bool_type" | "bool_parsing":
            return "true or false"
        case "string_type":
            return "text; put quotes around a number"
        case "dict_type":
            return "names with values, such as {name: value}"
        case "tuple_type":
            return "a list, such as [one, another]"
        case "model_type":
            return f"a section with the keys {', '.join(_keys_of(key))}"
        case _:
            return str(detail["msg"]).removeprefix("Input should be ").removeprefix("Input ")


def _range(key: Key) -> str:
    """The limits of a number, as the setting declares them."""
    info = _keys_of(key[:-1]).get(str(key[-1]))
    limits = info.metadata if info else ()
    least = [limit.ge for limit in limits if hasattr(limit, "ge")]
    most = [limit.le for limit in limits if hasattr(limit, "le")]
    return (f" from {least[0]} to {most[0]}" if most else f" of {least[0]} or more") if least else ""


def _keys_of(key: Key) -> dict[str, FieldInfo]:
    """The keys of a section, or of the whole configuration."""
    if not key:
        return Config.model_fields
    info = Config.model_fields.get(str(key[0]))
    return info.annotation.model_fields if info and _is_section(info.annotation) else {}  # type: ignore[union-attr]


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
