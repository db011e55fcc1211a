#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Colours of drawings (viewer/drawing.json) can be told from the ground, and those of events from each other and from causes, with any colour vision."""
import itertools
import json
import pathlib
import re
import sys

VIEWER = pathlib.Path(__file__).resolve().parents[2] / "viewer"
EVENTS = ("accesses", "misses", "hits", "missrate")
# Machado, Oliveira, Fernandes 2009: all of a kind of cones is missing; and all vision that there is.
VISIONS = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
}


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def linear(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]


def contrast(a, b):
    """Of WCAG 2."""
    low, high = sorted(sum(part * each for part, each in zip((0.2126, 0.7152, 0.0722), linear(colour))) for colour in (a, b))
    return (high + 0.05) / (low + 0.05)


def seen(colour, vision):
    """In OKLab (Ottosson 2020)."""
    cones = times(((0.4122214708, 0.5363325363, 0.0514459929), (0.2119034982, 0.6806995451, 0.1073969566), (0.0883024619, 0.2817188376, 0.6299787005)),
                  [min(1, max(0, each)) for each in times(VISIONS[vision], linear(colour))])
    return times(((0.2104542553, 0.7936177850, -0.0040720468), (1.9779984951, -2.4285922050, 0.4505937099), (0.0259040371, 0.7827717662, -0.8086757660)),
                 [each ** (1 / 3) for each in cones])


def apart(a, b, vision):
    """1 can just be seen."""
    return 50 * sum((x - y) ** 2 for x, y in zip(seen(a, vision), seen(b, vision))) ** 0.5


def faults():
    drawing, style = json.loads((VIEWER / "drawing.json").read_text()), (VIEWER / "web/src/style.css").read_text()
    for theme, ground in zip(("light", "dark"), re.findall(r"--panel: (#\w+)", style)):
        colours = drawing[theme]
        events = [colours[event] for event in EVENTS]
        for colour in {*events, *colours["causes"], *colours["curves"], colours["marker"]}:
            if contrast(colour, ground) < 3:
                yield f"{theme}: {colour} on {ground}: a contrast of {contrast(colour, ground):.2f}, and not 3"
        pairs = [(*pair, 6) for pair in itertools.combinations(events, 2)] + [(*pair, 2) for pair in itertools.product(events, [*colours["causes"], colours["marker"]])]
        for (a, b, least), vision in itertools.product(pairs, VISIONS):
            if apart(a, b, vision) < least:
                yield f"{theme}: {a} and {b}: {apart(a, b, vision):.1f} apart with {vision}, and not {least}"


if __name__ == "__main__":
    found = list(faults())
    print("\n".join(found) or "all colours can be told apart")
    sys.exit(1 if found else 0)
