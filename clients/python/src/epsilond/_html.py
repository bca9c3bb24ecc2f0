"""HTML for notebooks. All text is escaped, except HTML that this module made."""

from __future__ import annotations

import html
from collections.abc import Iterable

from ._figures import plain

SPENT, HELD, HELD_LINE, LEFT = "#3346c8", "#f3c97f", "#b26a00", "#dde3ec"
ASKED, TOO_MUCH = "#0e8a6d", "#b3261e"


class Html(str):
    """Text that is HTML already."""


def element(name: str, *children: object, **attributes: object) -> Html:
    """An element; its children are escaped unless they are Html. stroke_width is stroke-width."""
    inner = "".join(child if isinstance(child, Html) else html.escape(plain(child))
                    for child in children)
    told = "".join(f' {key.replace("_", "-")}="{html.escape(plain(value))}"'
                   for key, value in attributes.items())
    return Html(f"<{name}{told}>{inner}</{name}>")


def gauge(words: str, spent: float, held: float, asked: float = 0) -> Html:
    """A bar: the spent part is solid, the held part hatched, the requested part green (red if it does
    not fit) and the remaining part pale. `words` says the same for readers who cannot see the bar."""
    def part(start: float, share: float, fill: str) -> Html:
        return element("rect", x=f"{100 * start:.2f}%", y="0", height="12", fill=fill,
                       width=f"{100 * max(0.0, share):.2f}%")

    line = element("path", d="M0 6L6 0", stroke=HELD_LINE, stroke_width="2")
    hatch = element("pattern", element("rect", width="6", height="6", fill=HELD), line, width="6",
                    height="6", id="epsilond-held", patternUnits="userSpaceOnUse")
    spent = min(max(spent, 0.0), 1.0)
    held = min(max(held, 0.0), 1.0 - spent)
    room = 1.0 - spent - held
    return element("svg", element("title", words), element("defs", hatch), part(0, 1, LEFT),
                   part(0, spent, SPENT), part(spent, held, "url(#epsilond-held)"),
                   part(spent + held, min(asked, room), ASKED if asked <= room else TOO_MUCH),
                   role="img", width="100%", height="12", style="max-width: 40em")


def facts(heading: str, rows: Iterable[tuple[str, object]], *more: Html) -> str:
    """A heading, below it the elements of `more`, and a table of names and values."""
    lines = [element("tr", element("th", name, style="text-align: left"),
                     element("td", value, style="text-align: left")) for name, value in rows]
    return element("div", element("p", element("b", heading)), *more, element("table", *lines))
