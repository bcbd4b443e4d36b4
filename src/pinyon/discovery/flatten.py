"""A page rewritten to the elements links are taken from, in one linear pass.

What comes out is built from parsed pieces, never copied: no tag in it has more attributes than discovery reads,
none contains another, and `<` in text is escaped. So whatever the input is, a parser's time on the output is
linear.
"""

from __future__ import annotations

import re

#: Element → the attributes kept of it.
_KEPT = {
    b"a": (b"href", b"rel", b"type", b"title", b"aria-label"),
    b"area": (b"href", b"rel", b"type", b"title", b"alt"),
    b"base": (b"href",),
    b"form": (b"action",),
    b"frame": (b"src",),
    b"html": (b"lang", b"xml:lang"),
    b"iframe": (b"src",),
    b"img": (b"src", b"alt"),
    b"link": (b"href", b"rel", b"type", b"title"),
    b"meta": (b"name", b"http-equiv", b"content"),
    b"script": (b"src",),
    b"title": (),
}
#: Kept elements that would hold what follows them: they are closed at once. A frame outside a frameset, which is
#: not kept, would be none, so it becomes an iframe.
_CLOSED = {b"form": b"</form>", b"frame": b"</iframe>", b"iframe": b"</iframe>", b"script": b"</script>"}

# Tags as the tokenizer of the HTML standard takes them. Every part is possessive: what it has taken is never
# tried again, so that the time is linear however the page is broken.
_VALUE = rb"\s*+=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^\s>\"'][^\s>]*+)?+"
_ATTRIBUTES = rb"(?:[\s/]++|[^\s/>][^\s/>=]*+(?:" + _VALUE + rb")?+)*+"
#: A tag up to its end, or to that of the page.
TAG = re.compile(rb"<[a-zA-Z][^\s/>]*+" + _ATTRIBUTES + rb">?+")
_RAW_NAMES = rb"script|style|title|textarea|xmp|iframe|noembed|noframes|noscript|template"
_TOKEN = re.compile(
    rb"<(?P<raw>" + _RAW_NAMES + rb")(?=[\s/>])(?P<raw_attributes>" + _ATTRIBUTES + rb")>"
    rb"(?P<content>.*?)(?:</(?P=raw)(?=[\s/>])[^>]*+(?:>|\Z)|\Z)"
    rb"|<(?P<start>[a-z][^\s/>]*+)(?P<attributes>" + _ATTRIBUTES + rb")>"
    rb"|<[a-z][^\s/>]*+" + _ATTRIBUTES + rb"\Z"
    rb"|</(?P<end>[a-z][^\s/>]*+)[^>]*+(?:>|\Z)"
    rb"|<!--(?:-?>|.*?(?:--!?>|\Z))"
    rb"|<[!?/][^>]*+(?:>|\Z)"
    rb"|(?P<text><++)",
    re.DOTALL | re.IGNORECASE,
)
#: One attribute of a tag: its name, and its value by the quotes around it.
ATTRIBUTE = re.compile(
    rb"([^\s/>][^\s/>=]*+)(?:\s*+=\s*+(?:\"([^\"]*+)\"?|'([^']*+)'?|([^\s>\"'][^\s>]*+))?+)?+", re.DOTALL
)
#: Tags that do not part words: all others leave a space.
_INLINE = frozenset(
    b"abbr acronym b bdi bdo big cite code em font i ins kbd mark q s small span strong sub sup tt u var wbr".split()
)


def flattened(utf8: bytes) -> bytes:
    """The page's text, links, meta elements and title, and nothing else of it.

    Content of noscript and of templates is left out. Scripts and styles end at their end tags, even within svg and
    math, where a browser would see elements in them.
    """
    return _TOKEN.sub(_Rewriter(), utf8)


class _Rewriter:
    """What becomes of one token after the other. An svg has titles of its own: those are text."""

    def __init__(self) -> None:
        self._in_svg = False

    def __call__(self, token: re.Match[bytes]) -> bytes:
        which = token.lastgroup
        if which == "attributes":
            return self._start(token["start"].lower(), token["attributes"])
        if which == "end":
            return self._end(token["end"].lower())
        if which == "content":
            return self._raw(token["raw"].lower(), token["raw_attributes"], token["content"])
        return b"&lt;" * len(token[0]) if which == "text" else b""

    def _start(self, name: bytes, attributes: bytes) -> bytes:
        if name not in _KEPT:
            self._in_svg = self._in_svg or name == b"svg"
            return _gap(name)
        return _start_tag(name, attributes)

    def _end(self, name: bytes) -> bytes:
        if name == b"a":
            return b"</a>"
        self._in_svg = self._in_svg and name != b"svg"
        return _gap(name)

    def _raw(self, name: bytes, attributes: bytes, content: bytes) -> bytes:
        if name != b"title":
            return _start_tag(name, attributes) if name in _KEPT else b" "
        text = content.replace(b"<", b"&lt;")
        return text if self._in_svg else b"<title>" + text + b"</title>"


def _start_tag(name: bytes, attributes: bytes) -> bytes:
    tag = b"iframe" if name == b"frame" else name
    return b"<" + tag + _kept(attributes, _KEPT[name]) + b">" + _CLOSED.get(name, b"")


def _gap(name: bytes) -> bytes:
    return b"" if name in _INLINE else b" "


def _kept(attributes: bytes, wanted: tuple[bytes, ...]) -> bytes:
    """The wanted attributes, the first of equal names, in quotes."""
    found: dict[bytes, bytes] = {}
    for name, double, single, bare in ATTRIBUTE.findall(attributes):
        name = name.lower()
        if name in wanted and name not in found:
            found[name] = (double or single or bare).replace(b'"', b"&quot;")
    return b"".join(b" " + name + b'="' + value + b'"' for name, value in found.items())
