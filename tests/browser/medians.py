# SPDX-License-Identifier: BSD-3-Clause
"""Cells of a pivot of a campaign or sweep, with h5py and numpy alone: argv has the file, drawing.json and JSON with group, across, down, facet (or
null), value, where. Prints the name, median and number of points of each, and its colour on a light page."""
import json
import sys

import h5py
import numpy as np

path, drawing, asked = sys.argv[1], json.load(open(sys.argv[2])), json.loads(sys.argv[3])
table = h5py.File(path, "r")[asked["group"]]


def column(name):
    found = table[name]
    return found.asstr()[:] if h5py.check_string_dtype(found.dtype) else found[:].astype(float)


def text(name, value):
    if isinstance(value, str):
        return value
    if name.endswith(".size"):
        return f"{value / 1048576:g} MiB" if value >= 1048576 else f"{value / 1024:g} KiB"
    return f"{value:g}"


def measure(name):
    if name.startswith("miss_rate_"):
        misses, accesses = column("misses_" + name[10:]), column("accesses_" + name[10:])
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(accesses > 0, misses / accesses, np.nan)
    return column(name)


def order(name):
    """The place of each value in the picture: numbers by size, texts as they come."""
    values = column(name)
    known = values[~np.isnan(values)] if values.dtype.kind == "f" else values[values != ""]
    return list(np.unique(known)) if values.dtype.kind == "f" else list(dict.fromkeys(known))


keep = np.ones(len(column(asked["across"])), bool)
for name, wanted in asked["where"].items():
    keep &= np.isin(column(name), wanted)
names = [each for each in (asked["facet"], asked["down"], asked["across"]) if each]
columns, orders, value = [column(each) for each in names], [order(each) for each in names], measure(asked["value"])
cells = {}
for i in np.flatnonzero(keep):
    key = [each[i] for each in columns]
    if all(value_of in known for value_of, known in zip(key, orders)):
        cells.setdefault(tuple(known.index(value_of) for value_of, known in zip(key, orders)), []).append(value[i])
medians = {key: np.median(own) if (own := [each for each in found if not np.isnan(each)]) else np.nan for key, found in cells.items()}
known = np.array([each for each in medians.values() if not np.isnan(each)])
sizes = np.abs(known[known != 0])
far = asked["value"] != "error" and len(sizes) > 0 and sizes.max() > 30 * sizes.min()
unit = 10 ** np.floor(np.log10(max(sizes.min(), sizes.max() / 1e6)) + 1e-9) if far else 1
spread = (lambda x: x) if not far else np.log if known.min() > 0 else lambda x: np.log(1 + x / unit)
ramp = np.array([[int(each[i:i + 2], 16) for i in (1, 3, 5)] for each in drawing["light"]["ramp"]])


def colour(value):
    low, high = spread(known.min()), spread(known.max())
    begin, share = drawing["scale"]["matrix"]
    at = (begin + share * ((spread(value) - low) / (high - low) if high > low else 0)) * (len(ramp) - 1)
    below = min(int(at), len(ramp) - 2)
    return [float(each) for each in ramp[below] * (1 - (at - below)) + ramp[below + 1] * (at - below)]


print(json.dumps([{"name": ", ".join(f"{name} {text(name, known_values[place])}" for name, known_values, place in zip(names, orders, key)),
                   "points": int(np.sum(~np.isnan(cells[key]))), "median": None if np.isnan(medians[key]) else float(medians[key]),
                   "colour": None if np.isnan(medians[key]) else colour(medians[key])} for key in sorted(cells)]))
