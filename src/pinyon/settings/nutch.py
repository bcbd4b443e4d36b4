"""Nutch's configuration files: a `nutch-site.xml` says the same in its own names and units."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pinyon.errors import SettingError
from pinyon.settings.spec import Spec
from pinyon.settings.table import specs

#: A value may name other properties, which may name others again; Hadoop gives up at this depth too.
_MAX_SUBSTITUTIONS = 20
_VARIABLE = re.compile(r"\$\{([^}$\s]+)\}")
#: What is kept of a page as metadata, in Nutch's words and in ours.
_FACTS = {"content-type": "content_type", "language": "language", "lang": "language"}


def from_nutch(path: Path) -> tuple[dict[str, Any], list[str]]:
    """'section.name' → value of a Hadoop configuration file, and the properties that mean nothing here.

    Of several properties of one name the last counts; `${name}` is another property's value. Raises `SettingError`
    if the file cannot be read, is not XML, or a value cannot be used.
    """
    by_property = {spec.nutch: spec for spec in specs() if spec.nutch}
    properties = dict(_hadoop_properties(path))
    values: dict[str, Any] = {}
    for name, text in properties.items():
        if name in by_property:
            spec = by_property[name]
            values[spec.key] = _value(spec, _substituted(text, properties), str(path))
    return values, [name for name in properties if name not in by_property]


def _substituted(text: str, properties: Mapping[str, str]) -> str:
    for _ in range(_MAX_SUBSTITUTIONS):
        found = next((m for m in _VARIABLE.finditer(text) if m[1] in properties), None)
        if found is None:
            return text
        text = text[: found.start()] + properties[found[1]] + text[found.end() :]
    return text


def _value(spec: Spec, text: str, origin: str) -> Any:
    if spec.nutch in _OWN_WAYS:
        return _OWN_WAYS[spec.nutch](text)
    if spec.kind not in (int, float) or not text:
        return text
    try:
        number = float(text) * spec.nutch_factor
    except ValueError as error:
        raise SettingError(f"{origin}: {spec.nutch} = {text!r}: wanted a number") from error
    if spec.optional and number < 0:  # Nutch's way to say: no limit
        return None
    return spec.kind(number) if spec.nutch_factor != 1 else text


def _facts(text: str) -> list[str]:
    words = text.replace(",", " ").lower().split()
    return [_FACTS[word] for word in words if word in _FACTS]


def _without_by(text: str) -> str:
    return text.removeprefix("by").lower()


#: Properties whose values are other words than ours.
_OWN_WAYS: dict[str, Callable[[str], Any]] = {
    "partition.url.mode": _without_by,
    "fetcher.queue.mode": _without_by,
    "db.fetch.schedule.class": lambda text: "adaptive" if "Adaptive" in text else "default",
    "db.parsemeta.to.crawldb": _facts,
    # a HostDb of Nutch's is imported: what stands there is where it lay
    "generate.hostdb": lambda text: "on" if text else "off",
}


def _hadoop_properties(path: Path) -> Iterator[tuple[str, str]]:
    """Name and value of each property, in order."""
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException, ElementTree

    try:
        root = ElementTree.parse(path).getroot()
    except OSError as error:
        raise SettingError(f"{path}: cannot be read: {error.strerror}") from error
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise SettingError(f"{path}: not a Hadoop configuration: {' '.join(str(error).split())}") from error
    if root.tag != "configuration":
        raise SettingError(f"{path}: not a Hadoop configuration: it is a <{root.tag}>")
    for element in root.iter("property"):
        name, value = element.findtext("name"), element.findtext("value")
        if name and name.strip():
            yield name.strip(), (value or "").strip()
