"""docs/settings.md: every setting."""

from __future__ import annotations

import inspect

from parts import code, sentence, table
from pinyon import settings

_HEADER = ["name", "default", "unit", "meaning", "Nutch"]


def sections() -> str:
    return "\n\n".join(map(_section, dict.fromkeys(spec.section for spec in settings.specs())))


def _section(name: str) -> str:
    story = inspect.getdoc(type(getattr(settings.Settings(), name)))
    rows = [
        [code(s.name), _default(s), s.unit, _meaning(s), code(s.nutch) if s.nutch else ""]
        for s in settings.specs()
        if s.section == name
    ]
    return f"### [{name}]\n\n{story}\n\n{table(_HEADER, rows)}"


def _default(spec: settings.Spec) -> str:
    value = spec.default
    if value is None or value == ():
        return "empty"
    if isinstance(value, bool):
        return code(str(value).lower())
    return code(" ".join(value) if isinstance(value, tuple) else value)


def _meaning(spec: settings.Spec) -> str:
    choices = f" One of {', '.join(map(code, spec.choices))}." if spec.choices else ""
    return sentence(spec.help) + choices
