"""One row of the table of settings, and what it makes of a value as a source says it."""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pinyon.errors import SettingError, nearest

_ON = frozenset({"true", "yes", "on", "1"})
_OFF = frozenset({"false", "no", "off", "0"})

_WORDS: dict[type, str] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    tuple: "a list of texts",
}


@dataclass(frozen=True, slots=True)
class Spec:
    """One setting: its place, type, default, unit and help, and how Nutch calls it."""

    section: str
    name: str
    type: Any
    default: Any
    unit: str
    help: str
    nutch: str
    nutch_factor: float
    choices: tuple[str, ...]
    least: float | None
    separators: str

    @property
    def key(self) -> str:
        return f"{self.section}.{self.name}"

    @property
    def env(self) -> str:
        return f"PINYON_{self.section}_{self.name}".upper()

    @property
    def kind(self) -> type:
        """The plain type: `int` of `int | None`, `tuple` of `tuple[str, ...]`."""
        if isinstance(self.type, types.UnionType):
            return next(t for t in typing.get_args(self.type) if t is not type(None))
        return typing.get_origin(self.type) or self.type

    @property
    def optional(self) -> bool:
        return isinstance(self.type, types.UnionType)

    def convert(self, value: Any, origin: str) -> Any:
        """`value`, or its text, as this setting's type; `SettingError` if it is not one."""
        if self._is_off(value):
            if self.optional:
                return None
            raise SettingError(f"{origin}: {self.key} needs a value ({self._wanted()})")
        try:
            converted = self._converted(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise SettingError(f"{origin}: {self.key} = {_shown(value)}: wanted {self._wanted()}") from error
        if self.choices and converted not in self.choices:
            hint = nearest(str(converted), self.choices)
            raise SettingError(f"{origin}: {self.key} = {_shown(value)}: wanted {self._wanted()}{hint}")
        return converted

    def _is_off(self, value: Any) -> bool:
        """Whether nothing is said; for what may be nothing, `false` says so too, whatever wrote it."""
        if value is None or (
            value == "" and self.kind is not tuple and (self.optional or self.kind is not str)
        ):
            return True
        if not self.optional:
            return False
        # `false` as the text of an expression is an expression
        return value is False or (self.kind in (int, float) and str(value).strip().lower() in _OFF - {"0"})

    def _converted(self, value: Any) -> Any:
        if self.kind is bool:
            return _as_bool(value)
        if self.kind is tuple:
            return self._as_list(value)
        if self.kind is str:
            return self._as_text(value)
        return self._as_number(value)

    def _as_list(self, value: Any) -> tuple[str, ...]:
        if isinstance(value, str):
            return tuple(value.translate(dict.fromkeys(map(ord, self.separators), " ")).split())
        if isinstance(value, Mapping) or not all(isinstance(item, str) for item in value):
            raise TypeError
        return tuple(value)

    def _as_text(self, value: Any) -> str:
        if isinstance(value, bool) and self._switches():
            return "on" if value else "off"
        if not isinstance(value, str):
            raise TypeError
        if self._switches() and value.strip().lower() in _OFF:
            return "off"
        return value

    def _switches(self) -> bool:
        """A text that can be `on` and `off` beside others: `auto`, or a path."""
        return self.default == "auto" and not self.choices

    def _as_number(self, value: Any) -> Any:
        if isinstance(value, bool):
            raise TypeError
        number = self.kind(value)
        if not isinstance(value, str) and number != value:
            raise ValueError
        # where nothing is the least, a bound may lie below everything: generate.min_score = -inf
        if math.isnan(number) or (self.least is not None and not self.least <= number < math.inf):
            raise ValueError
        return number

    def _wanted(self) -> str:
        if self.choices:
            return "one of " + ", ".join(self.choices)
        unit = f" ({self.unit})" if self.unit else ""
        return _WORDS[self.kind] + unit + ("" if self.least is None else f", {self.least:g} or more")


def _as_bool(value: Any) -> bool:
    """`false` means off whatever wrote it: TOML, XML or the environment."""
    word = str(value).strip().lower()
    if word not in _ON | _OFF:
        raise ValueError
    return word in _ON


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:78]} …"
