#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""LU's time on this machine, predicted by a machine file fitted to it (docs/hardware.md), beside its measured time.

    scripts/build release --target cachetally native_lu
    /usr/bin/python3 examples/prediction/predict.py model.yaml 128 256 512 1024

Needs numpy (Debian: python3-numpy). The model counts accesses and misses. What it does not know is calibrated with other measurements than
those predicted: the time of instructions with matrices that fit into L1; the time of a line from each level with LU's inner loop on columns
in random order, in areas of the geometric mean of two capacities. Time is in cycles, by chains of additions.
"""
import argparse
import itertools
import json
import math
import pathlib
import subprocess
import sys

import numpy as np

root = pathlib.Path(__file__).resolve().parents[2]
features = ("iterations", "calls", "divisions")


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"predict.py: {words[0]}: {done.stderr.strip() or done.returncode}")
    return json.loads(done.stdout)


def least(commands, rounds):
    """Each command's result with the least cycles. All of them in turn, as other users of the machine come and go."""
    best = {}
    for _ in range(rounds):
        for words in commands:
            new = run(*words)
            cycles = next(new[key] for key in ("cycles", "cycles_per_line") if key in new)
            if words not in best or cycles < best[words][0]:
                best[words] = (cycles, new)
    return {words: result for words, (_, result) in best.items()}


def solve(rows, names):
    """Cycles of each feature, none negative, by least squares of the relative differences, and the worst of these. All subsets are tried."""
    best = None
    for kept in itertools.chain.from_iterable(itertools.combinations(range(len(names)), size) for size in range(1, len(names) + 1)):
        costs = np.linalg.lstsq(rows[:, kept], np.ones(len(rows)), rcond=None)[0]
        off = np.abs(rows[:, kept] @ costs - 1)
        if costs.min() >= 0 and (best is None or np.square(off).sum() < best[0]):
            best = np.square(off).sum(), {names[index]: cost for index, cost in zip(kept, costs)}, off.max()
    return best[1:]


def simulate(cachetally, model, n):
    """References, cycles, and lines from each level below L1, since the matrix was written and touched."""
    result = run(cachetally, "run", "lu", f"n={n}", "stack=off", "-m", model, "--monitor", "none", "--json")
    phases = result["phases"][2:]
    data = [name for name in result["levels"] if result["levels"][name]["loads"]]
    missed = [sum(p["levels"][name][kind] for p in phases for kind in ("load_misses", "store_misses")) for name in data]
    return (sum(p["references"] for p in phases), sum(p["cycles"] for p in phases),
            [above - below for above, below in zip(missed, missed[1:] + [0])])


def main():
    parser = argparse.ArgumentParser(description="LU's time on this machine, predicted and measured")
    parser.add_argument("model", help="a machine file fitted to this machine")
    parser.add_argument("sizes", type=int, nargs="+", metavar="N", help="rows and columns of the matrix, 16 or more")
    parser.add_argument("--cachetally", default=root / "build/release/app/cachetally")
    parser.add_argument("--native", default=root / "build/release/tests/native_lu")
    parser.add_argument("--seconds", type=float, default=1, help="of each measurement in each round (default 1)")
    parser.add_argument("--rounds", type=int, default=5, help="of all measurements, of which the least count (default 5)")
    given = parser.parse_args()
    machine = run(given.cachetally, "machine", "show", given.model, "--json")
    levels = [cache for cache in machine["caches"] if cache["serves"] != "fetch"]
    capacities = [cache["size"] for cache in levels]
    orders = ("shuffled", "sequential")
    areas = [capacities[0] // 2] + [math.isqrt(a * b) for a, b in zip(capacities, capacities[1:])] + [8 * capacities[-1]]
    small = range(16, math.isqrt(capacities[0] * 7 // 8 // 8) + 1, 8)
    lu = {n: (given.native, "lu", n, 16, given.seconds) for n in [*small, *given.sizes]}
    columns = {order: [(given.native, "columns", area, order, given.seconds) for area in areas] for order in orders}
    best = least([*lu.values(), *columns["shuffled"], *columns["sequential"]], given.rounds)

    costs, off = solve(np.array([[best[lu[n]][feature] / best[lu[n]]["cycles"] for feature in features] for n in small]), features)
    print("cycles by", ", ".join(f"{name} {cost:.2f}" for name, cost in costs.items()), f"(n = {small[0]} to {small[-1]}, at most {100 * off:.1f} % off)")
    below = [cache["name"] for cache in levels[1:]] + ["memory"]
    added = {}
    for order in orders:
        times = [best[words]["cycles_per_line"] for words in columns[order]]
        added[order] = [max(0.0, time - times[0]) for time in times[1:]]
        print("cycles more per line from", ", ".join(f"{name} {cost:.2f}" for name, cost in zip(below, added[order])),
              f"({order} columns in", ", ".join(f"{area >> 10} KiB" for area in areas) + ")")
    print(f"\n{'n':>5} {'measured':>13} {'each load waits':>22} {'instructions':>22} {'+ shuffled lines':>22} {'+ sequential lines':>22}")
    for n in given.sizes:
        references, waited, served = simulate(given.cachetally, given.model, n)
        measured = best[lu[n]]
        if measured["references"] != references:
            sys.exit(f"predict.py: {measured['references']} accesses natively, {references} references simulated")
        compute = sum(cost * measured[feature] for feature, cost in costs.items())
        predictions = [waited, compute, *(compute + float(np.dot(served, added[order])) for order in orders)]
        print(f"{n:5} {measured['cycles']:13,.0f}" + "".join(f" {p:13,.0f} {100 * (p / measured['cycles'] - 1):+6.1f} %" for p in predictions))


if __name__ == "__main__":
    main()
