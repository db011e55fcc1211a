#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""examples/prediction/predict.py with a native program that is made up, so that what it must print is known; and what the real one counts.

    prediction_test.py CACHETALLY NATIVE_LU SOURCE
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
try:
    import numpy  # noqa: F401, of predict.py
except ImportError:
    print("skipped: there is no numpy (Debian: python3-numpy)")
    sys.exit(77)

BLOCK = 16
LINE = {"L2": 3.0, "L3": 20.0, "memory": 150.0}  # cycles that the made-up machine takes more for a line


def counted(n):
    """Iterations, calls and divisions of LU, block by block (docs/workloads.md)."""
    iterations = calls = divisions = 0
    edges = [min(BLOCK, n - at) for at in range(0, n, BLOCK)]
    for k, d in enumerate(edges):
        rest = sum(edges[k + 1:])
        for p in range(d):
            for columns in (d - p - 1, rest):  # lu0, bmodd
                divisions += columns
                calls += columns
                iterations += columns * (d - p - 1)
            for rows in edges[k + 1:]:  # bdiv, bmod
                calls += d - p - 1 + rest
                iterations += (d - p - 1 + rest) * rows
    return iterations, calls, divisions


def cycles(n):
    iterations, calls, divisions = counted(n)
    return iterations + 2 * calls + 5 * divisions


def made_up(words):
    if words[0] == "lu":
        iterations, calls, divisions = counted(int(words[1]))
        return {"n": int(words[1]), "references": 3 * iterations + 3 * divisions + calls - divisions, "iterations": iterations,
                "calls": calls, "divisions": divisions, "cycles": cycles(int(words[1]))}
    size = int(words[1])
    more = 0 if size <= 32 << 10 else LINE["L2"] if size <= 256 << 10 else LINE["L3"] if size <= 8 << 20 else LINE["memory"]
    return {"bytes": size, "cycles_per_line": 10 + more * (1 if words[2] == "shuffled" else 0.1)}


def output(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check(cachetally, native, source):
    sizes = [48, 64, 272]
    machine = json.loads(output(cachetally, "machine", "show", "generic3", "--json"))
    assert [c["size"] >> 10 for c in machine["caches"] if c["serves"] != "fetch"] == [32, 512, 8192], "made_up() is about another machine"
    with tempfile.TemporaryDirectory() as folder:
        stand_in = pathlib.Path(folder) / "native"
        stand_in.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{os.path.abspath(__file__)}" made-up "$@"\n')
        stand_in.chmod(0o755)
        lines = output(sys.executable, f"{source}/examples/prediction/predict.py", "generic3", *sizes, "--cachetally", cachetally,
                       "--native", stand_in, "--rounds", "1", "--seconds", "0").splitlines()
    assert lines[0].startswith("cycles by iterations 1.00, calls 2.00, divisions 5.00 (n = 16 to 56, at most 0.0 % off)"), lines[0]
    assert "L2 3.00, L3 20.00, memory 150.00 (shuffled" in lines[1] and "L2 0.30, L3 2.00, memory 15.00 (sequential" in lines[2], lines
    for n, line in zip(sizes, lines[5:], strict=True):
        result = json.loads(output(cachetally, "run", "lu", f"n={n}", "stack=off", "-m", "generic3", "--monitor", "none", "--json"))
        before = [result["phases"][0], result["phases"][1]]
        misses = lambda level, part: part["levels"][level]["load_misses"] + part["levels"][level]["store_misses"]
        first, second, last = (misses(level, result) - sum(misses(level, part) for part in before) for level in ("L1D", "L2", "L3"))
        more = (first - second) * LINE["L2"] + (second - last) * LINE["L3"] + last * LINE["memory"]
        waited = result["cycles"] - sum(part["cycles"] for part in before)
        wanted = [n, cycles(n), waited, cycles(n), cycles(n) + more, cycles(n) + more / 10]
        found = [float(word.replace(",", "")) for word in line.split() if word[0].isdigit()]
        assert all(abs(a - b) <= 1 for a, b in zip(wanted, found, strict=True)), (wanted, line)
        assert n < 64 or more > 0, "a case that checks nothing"
        real = json.loads(output(native, "lu", n, BLOCK, "0.01"))
        assert {**real, "cycles": cycles(n)} == {**made_up(["lu", n]), "fingerprint": real["fingerprint"]}, real
    print("as it should be")


if __name__ == "__main__":
    if sys.argv[1] == "made-up":
        print(json.dumps(made_up(sys.argv[2:])))
    else:
        check(*sys.argv[1:])
