#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a result file whose counts are known by how it is made: one level with lines of 64 bytes from BASE (0x10000) on.
Usage: make_phases.py FILE.h5 KIND PHASES LINES [BASE [PROGRAM]]
diagonal: line i has 1 + i % 7 accesses in phase i * PHASES // LINES alone; uniform: 64 in each phase; ramp: line i
has i + 1 in each phase; random: some lines, any counts; blocks: as a reduced copy has them, counts of 16 lines together, in stretches of LINES lines
20 pages from each other."""
import sys

import h5py
import numpy as np

LINE, BLOCK = 64, 16


def counts(kind, phases, lines):
    """Phase, line and accesses of the rows, by phase and line."""
    if kind == "diagonal":
        line = np.arange(lines)
        return line * phases // lines, line, 1 + line % 7
    if kind == "uniform":
        return np.repeat(np.arange(phases), lines), np.tile(np.arange(lines), phases), np.full(phases * lines, 64)
    if kind == "ramp":
        return np.repeat(np.arange(phases), lines), np.tile(np.arange(lines), phases), np.tile(np.arange(lines) + 1, phases)
    random = np.random.Generator(np.random.PCG64(7))
    if kind == "blocks":
        line = (np.arange(0, lines, BLOCK)[None, :] + (lines + 20 * 64) * np.arange(4)[:, None]).ravel()
        return np.repeat(np.arange(phases), len(line)), np.tile(line, phases), random.integers(1, 1000, phases * len(line))
    some = np.flatnonzero(random.random(phases * lines) < 0.2)
    return some // lines, some % lines, random.integers(1, 1000, len(some))


def main():
    path, kind, phases, lines = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    base = int(sys.argv[5], 0) if len(sys.argv) > 5 else 0x10000
    phase, line, accesses = counts(kind, phases, lines)
    misses = accesses // 3
    with h5py.File(path, "w") as f:
        f.attrs.update(format="cachetally result", kind="run", NX_class="NXroot", default="combined")
        f.attrs["format_version"], f.attrs["complete"] = np.uint64(1), np.uint64(1)
        f.create_group("input").attrs["name"] = sys.argv[6] if len(sys.argv) > 6 else kind
        f.create_group("machine").attrs.update(name="one level", cores=np.uint64(1), period=np.uint64(1000))
        f["machine"]["yaml"] = np.array(["name: made\n"], dtype="S16")
        level = f.create_group("combined/L1")
        f["combined"].attrs["names"] = ["L1"]
        level.attrs["line_bytes"] = np.uint64(LINE)
        level["address"] = (base + LINE * line).astype(np.uint64)
        level["phase"] = phase.astype(np.uint32)
        for name, values in (("accesses", accesses), ("misses", misses), ("hits", accesses - misses), ("miss_rate", misses / accesses)):
            level[name] = values.astype(float)
        if kind == "blocks":
            level["span"] = np.full(len(line), BLOCK, np.uint32)
        structures = f.create_group("structures")
        structures["name"] = np.array(["data"], dtype="S8")
        for name, value in (("base", base), ("bytes", LINE * lines), ("element_bytes", 8)):
            structures[name] = np.array([value], np.uint64)
        f.create_group("levels/L1")
        f["levels"].attrs["names"] = ["L1"]
        for name, total in (("loads", accesses.sum()), ("load_misses", misses.sum())):
            f["levels/L1"].create_dataset(name, data=np.uint64([total] + [0] * (phases - 1))).attrs["total"] = np.uint64(total)
        f.create_group("run").attrs.update(references=np.uint64(accesses.sum()), cycles=np.uint64(1e6), page_walks=np.uint64(0))
        group = f.create_group("phases")
        group["name"] = np.array([f"phase {p}" for p in range(phases)], dtype="S16")
        for name in ("references", "cycles", "page_walks"):
            group[name] = np.full(phases, 1000, np.uint64)


main()
