"""Where settings come from, but for Nutch's files: TOML, and the environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pinyon.errors import SettingError, nearest
from pinyon.settings.table import specs


def from_toml(path: Path) -> dict[str, Any]:
    """'section.name' → value of a TOML file; `SettingError` if it cannot be read or is not TOML."""
    import tomllib

    try:
        with path.open("rb") as file:
            document = tomllib.load(file)
    except OSError as error:
        raise SettingError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"{path}: not valid TOML: {error}") from error
    values: dict[str, Any] = {}
    for section, content in document.items():
        if not isinstance(content, dict):
            raise SettingError(f"{path}: '{section}' stands outside a [section]")
        values.update({f"{section}.{name}": value for name, value in content.items()})
    return values


def from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """'section.name' → text of the variables PINYON_SECTION_NAME; an unknown one is an error."""
    by_env = {spec.env: spec.key for spec in specs()}
    found = {name: text for name, text in environment.items() if name.startswith("PINYON_")}
    for name in found:
        if name not in by_env:
            raise SettingError(f"environment: unknown setting '{name}'{nearest(name, by_env)}")
    return {by_env[name]: text for name, text in found.items()}
