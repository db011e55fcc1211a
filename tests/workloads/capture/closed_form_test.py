#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Loads, stores and misses of kernels on static arrays, live and recorded, beside closed forms.

  closed_form_test.py CACHETALLY POLYBENCH

Loads and stores are counted in the recording's text, between the addresses that the program's symbols say; accesses and
misses are those by name. Misses are those of generic3 (L1D 32 KiB, L2 512 KiB, L3 8 MiB; 64-byte lines).
"""
import json
import os
import subprocess
import sys
import tempfile

PLACE = 0x108000  # where valgrind puts programs that may lie anywhere
NI, NJ, NK, STEPS, SIDE, COLUMNS, ROWS, SWEEPS = 24, 32, 40, 3, 64, 512, 256, 3
INNER = (SIDE - 2) ** 2
STREAM = ROWS * COLUMNS

# for each array: loads, stores, and misses of some levels
CLOSED_FORMS = {
    # All three lie in L1D together: each line is fetched once.
    "gemm": {
        "A": (NI * NJ * NK, 0, {level: NI * NK // 8 for level in ("L1D", "L2", "L3")}),
        "B": (NI * NJ * NK, 0, {level: NK * NJ // 8 for level in ("L1D", "L2", "L3")}),
        "C": (NI * NJ * (NK + 1), NI * NJ * (NK + 1), {level: NI * NJ // 8 for level in ("L1D", "L2", "L3")}),
    },
    # Both lie in L2, and all of their lines hold elements that are needed.
    "jacobi-2d": {
        "before": (STEPS * 5 * INNER, STEPS * INNER, {"L2": SIDE * SIDE // 8, "L3": SIDE * SIDE // 8, "DTLB": 8}),
        "after": (STEPS * 5 * INNER, STEPS * INNER, {"L2": SIDE * SIDE // 8, "L3": SIDE * SIDE // 8, "DTLB": 8}),
    },
    # Twice as large as L2, within L3: each sweep fetches each line into L1D and L2, and the first into L3; the DTLB has
    # 64 entries for its 256 pages, the STLB enough.
    "mv": {
        "matrix": (SWEEPS * STREAM, 0, {"L1D": SWEEPS * STREAM // 8, "L2": SWEEPS * STREAM // 8, "L3": STREAM // 8,
                                        "DTLB": SWEEPS * STREAM // 512, "STLB": STREAM // 512}),
        "x": (SWEEPS * STREAM, SWEEPS * STREAM, {"L3": ROWS // 8, "STLB": 1}),
        "y": (SWEEPS * STREAM, 0, {"L3": COLUMNS // 8, "STLB": 1}),
    },
}


def call(*words):
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout


def symbols(program):
    """Begin and end of each object."""
    found = {}
    for line in call("nm", "-S", program).decode().splitlines():
        words = line.split()
        if len(words) == 4:
            found[words[3]] = (PLACE + int(words[0], 16), PLACE + int(words[0], 16) + int(words[1], 16))
    return found


def main():
    program, polybench = sys.argv[1:]
    of = symbols(polybench)
    with tempfile.TemporaryDirectory() as directory:
        path = lambda name: os.path.join(directory, name)
        for kernel, arrays in CLOSED_FORMS.items():
            options = ["-m", "generic3", "--monitor", "none", "--json"]
            call(program, "run", *options, "--data-only", "--report", path("live"), "--", polybench, kernel)
            call(program, "record", "--data-only", "--force", "-o", path("t.ct.h5"), "--", polybench, kernel)
            with open(path("live"), encoding="utf-8") as file:
                live = json.load(file)
            replayed = json.loads(call(program, "replay", path("t.ct.h5"), *options))
            call(program, "trace", "export", "--force", path("t.ct.h5"), "-o", path("text"), "--to", "din")
            counted = {name: [0, 0] for name in arrays}
            with open(path("text"), encoding="ascii") as file:
                for line in file:
                    kind, address = line.split()[:2]
                    for name in arrays:
                        if of[name][0] <= int(address, 16) < of[name][1]:
                            counted[name][kind == "1"] += 1
            for name, (loads, stores, misses) in arrays.items():
                assert counted[name] == [loads, stores], f"{kernel}: {name} has {counted[name]}, not {[loads, stores]}"
                for result in (live, replayed):
                    row = next(row for row in result["attribution"]["structures"] if row["name"] == name)
                    assert row["accesses"] == loads + stores, f"{kernel}: {row}"
                    for level, expected in misses.items():
                        assert row["misses"][level] == expected, f"{kernel}: {expected} at {level}, but {row}"
            print(f"{kernel}: {sum(map(sum, counted.values()))} references are as the closed form says")


if __name__ == "__main__":
    main()
