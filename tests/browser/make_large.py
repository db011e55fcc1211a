#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a result file of a size that real runs reach after hours, in the documented format (docs/format.md):
LINES lines x PHASES phases x 3 levels, and a sweep of 12 x 8 cells beside its exact histogram.
Usage: make_large.py FILE.h5 [LINES [PHASES [nosweep] [causes] [sealed]]]: causes of misses by line; with digests (Debian: python3-xxhash)"""
import struct
import sys

import h5py
import numpy as np

LINE = 64
SCALES = {"accesses": 1, "misses": 1}


def texts(group, name, values):
    group.create_dataset(name, data=np.array(values, dtype=f"S{max(1, *map(len, values))}"))


def column(group, name, values):
    options = dict(chunks=(65536,), shuffle=True, compression=1) if len(values) > 65536 else {}
    return group.create_dataset(name, data=values, **options)


def pyramid(group, address, sums):
    """Levels of 16, 256, ... lines; `sums`: counts of each line over all phases."""
    parent = group.create_group("pyramid")
    units, number = 16, 1
    block = address // (LINE * units)
    while True:
        starts = np.flatnonzero(np.r_[True, block[1:] != block[:-1]])
        level = parent.create_group(f"level{number}")
        level.attrs["units"] = np.uint64(units)
        column(level, "address", block[starts] * np.uint64(LINE * units))
        column(level, "lines", np.diff(np.r_[starts, len(block)]).astype(np.uint32))
        for name, values in sums.items():
            prefix = "" if name == "count" else f"{name}_"
            if name != "miss_rate":
                column(level, "sum" if name == "count" else name, np.add.reduceat(values, starts))
            column(level, f"{prefix}min", np.minimum.reduceat(values, starts))
            column(level, f"{prefix}max", np.maximum.reduceat(values, starts))
        if len(starts) <= 256:
            return
        units, number = units * 16, number + 1
        block = block // 16


def caused(f, name, group, misses, phases):
    """Of each line and phase one first use, half of the rest capacity, the others conflicts; a third of the lines is of each structure."""
    first = np.minimum(misses, 1)
    capacity = np.floor((misses - first) / 2)
    causes = {"first_use": first, "invalidated": np.zeros(len(misses)), "capacity": capacity, "conflict": misses - first - capacity}
    lines = len(misses) // phases
    ends = [0, lines // 3, 2 * (lines // 3), lines]
    level = f.require_group("causes").create_group(name)
    f["causes"].attrs["levels"] = list(f["causes"])
    rows = [(i, p, slice(p * lines + ends[i], p * lines + ends[i + 1])) for i in range(3) for p in range(phases)]
    table, evictions = level.create_group("misses"), level.create_group("evictions")
    for number, key in enumerate(("structure", "phase")):
        column(table, key, np.array([row[number] for row in rows], np.uint32))
    for cause, count in causes.items():
        column(group, cause, count)
        column(table, cause, np.array([count[part].sum() for _, _, part in rows]).astype(np.uint64))
    for key in ("by", "victim", "phase", "count"):
        column(evictions, key, np.zeros(1, np.uint64 if key == "count" else np.uint32))


def sweep(f, address, count):
    """12 numbers of counters x 8 granularities; the errors are those of the exact histogram in aligned groups."""
    exact = f.create_group("exact")
    exact.attrs["unit_bytes"], exact.attrs["phases"] = np.uint64(LINE), np.uint64(1)
    column(exact, "address", address)
    column(exact, "span", np.ones(len(address), np.uint32))
    column(exact, "phase", np.zeros(len(address), np.uint32))
    column(exact, "count", count.astype(np.uint64))
    pyramid(exact, address, {"count": count})
    counters, groups = [8 << i for i in range(12)], range(1, 9)
    errors = []
    for group in groups:
        of = (address // LINE // group).astype(np.int64)
        of -= of[0]
        sums = np.bincount(of, count)
        sizes = np.bincount(of)
        # of a group at the end of the data the counter also stands for lines that are not data
        errors.append((np.abs(count - sums[of] / group).sum()) / count.sum())
    group = f.create_group("sweep")
    group.attrs.update(link="core-L1", monitor="made", references=np.uint64(count.sum()), events=np.uint64(count.sum()))
    group.attrs.update(objectives="", where="", tolerance=0.05)
    rows = group.create_group("rows")
    cells = [(g, c) for g in groups for c in counters]
    for name, text in ("workload", "made"), ("link", "core-L1"), ("settings", ""), ("eviction", "fifo"):
        texts(rows, name, [text] * len(cells))
    texts(rows, "granularity", [str(g) for g, _ in cells])
    column(rows, "counters", np.array([c for _, c in cells], np.uint32))
    column(rows, "swapouts", np.array([count.sum() / c**0.5 / g for g, c in cells], np.uint64))
    column(rows, "error", np.array([errors[g - 1] for g, _ in cells]))
    column(rows, "bytes_per_event", np.array([8 / c**0.5 / g for g, c in cells]))
    for name in "admitted", "front", "remains":
        column(rows, name, np.full(len(cells), name == "admitted", np.uint8))


def seal(path):
    """The trailer with the digests of blocks (docs/format.md)."""
    import xxhash

    block = 1 << 20
    with open(path, "r+b") as file:
        digests = [xxhash.xxh3_64_intdigest(data) for data in iter(lambda: file.read(block), b"")]
        size = file.tell()
        trailer = struct.pack(f"<{len(digests)}Q8sIIQ", *digests, b"CTDIGEST", 1, block, size)
        file.write(trailer + struct.pack("<Q", xxhash.xxh3_64_intdigest(trailer)))


def main():
    path = sys.argv[1]
    lines = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    phases = int(sys.argv[3]) if len(sys.argv) > 3 else 8
    random = np.random.Generator(np.random.PCG64(1))
    base = 0x10000000
    address = (base + LINE * np.arange(lines)).astype(np.uint64)
    wave = 40 + 30 * np.sin(np.arange(lines) / lines * 40) + 20 * (np.arange(lines) % 4096 < 64)
    with h5py.File(path, "w") as f:
        f.attrs.update(format="cachetally result", kind="run", NX_class="NXroot", default="combined")
        f.attrs["format_version"], f.attrs["complete"] = np.uint64(1), np.uint64(1)
        f.create_group("input").attrs["name"] = "made"
        f.create_group("machine").attrs.update(name="three levels", cores=np.uint64(1), period=np.uint64(1000))
        texts(f["machine"], "yaml", ["name: made\n"])
        combined, structures = f.create_group("combined"), f.create_group("structures")
        names = ["L1", "L2", "L3"]
        combined.attrs["names"] = names
        rate = {"L1": 0.2, "L2": 0.5, "L3": 0.8}
        scale, totals = 1.0, {}
        for name in names:
            group = combined.create_group(name)
            group.attrs["line_bytes"] = np.uint64(LINE)
            accesses = [np.floor(scale * wave * (1 + random.random(lines)) * (1 + p % 3)) + 1 for p in range(phases)]
            misses = [np.floor(a * rate[name] * random.random(lines)) for a in accesses]
            column(group, "address", np.tile(address, phases))
            column(group, "phase", np.repeat(np.arange(phases, dtype=np.uint32), lines))
            a, m = np.concatenate(accesses), np.concatenate(misses)
            column(group, "accesses", a)
            column(group, "misses", m)
            column(group, "hits", a - m)
            column(group, "miss_rate", m / a)
            if "causes" in sys.argv:
                caused(f, name, group, m, phases)
            a, m = sum(accesses), sum(misses)
            pyramid(group, address, {"accesses": a, "misses": m, "hits": a - m, "miss_rate": m / a})
            totals[name] = (a.sum(), m.sum())
            if name == "L1" and "nosweep" not in sys.argv:
                sweep(f, address, a)
            scale *= rate[name]
        third = lines // 3
        texts(structures, "name", ["keys", "from", "to", "(elsewhere)"])
        column(structures, "base", np.array([base, base + third * LINE, base + 2 * third * LINE, 0], np.uint64))
        column(structures, "bytes", np.array([third * LINE, third * LINE, (lines - 2 * third) * LINE, 0], np.uint64))
        column(structures, "element_bytes", np.array([8, 8, 8, 0], np.uint64))
        levels = f.create_group("levels")
        levels.attrs["names"] = names
        for name in names:
            group = levels.create_group(name)
            for counter, value in zip(("loads", "load_misses", "stores", "store_misses", "fetches", "fetch_misses"), (*totals[name], 0, 0, 0, 0)):
                group.create_dataset(counter, data=np.uint64([value] + [0] * (phases - 1))).attrs["total"] = np.uint64(value)
        run = f.create_group("run")
        run.attrs.update(references=np.uint64(totals["L1"][0]), cycles=np.uint64(1e9), page_walks=np.uint64(0))
        group = f.create_group("phases")
        texts(group, "name", [f"phase {p}" for p in range(phases)])
        for name in ("references", "cycles", "page_walks"):
            column(group, name, np.arange(1, phases + 1).astype(np.uint64) * 1000)
    if "sealed" in sys.argv:
        seal(path)


main()
