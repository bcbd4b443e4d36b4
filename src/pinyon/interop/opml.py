"""OPML (opml.org/spec2): lists of feeds, as feed readers exchange them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException, ElementTree

from pinyon.errors import InputError


def read_opml(path: Path) -> Iterator[str]:
    """The feed and site addresses of an OPML file, in order: `xmlUrl` and `htmlUrl` of every outline.

    Raises `InputError` if the file cannot be read or is not XML; entities are never expanded.
    """
    try:
        for _, element in ElementTree.iterparse(path):
            if element.tag.rpartition("}")[2].lower() == "outline":
                attributes = {name.lower(): value for name, value in element.attrib.items()}
                yield from (
                    attributes[name].strip() for name in ("xmlurl", "htmlurl") if attributes.get(name)
                )
            element.clear()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except (ParseError, DefusedXmlException) as error:
        raise InputError(f"{path}: not valid OPML: {error}") from error
