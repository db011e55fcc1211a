#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The compiled capture beside the program alone, and beside the capture under valgrind (docs/programs-compiled.md).

    compiled.py CACHETALLY FILE [RUNS]

Each line of FILE: the program built by a usual compiler, the same built by cachetally-cc, and its arguments. Printed are
the time of `record` as a multiple of the program's own (medians, run in turn), and what the compiled capture has of
the references and L1D misses (generic3) that valgrind sees: of all, and of those of the program's own code.
"""
import json, os, shlex, statistics, subprocess, sys, tempfile, time

NOWHERE = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def seconds(command):
    begin = time.perf_counter()
    subprocess.run(command, check=False, **NOWHERE)
    return time.perf_counter() - begin


def counts(cachetally, how, command, folder):
    """Loads, stores, L1D misses; accesses and misses of the program's own code."""
    report = os.path.join(folder, "report")
    subprocess.run([cachetally, "run", "--with", how, "-m", "generic3", "--monitor", "none", "--data-only", "--json",
                    "--report", report, "--", *command], check=False, **NOWHERE)
    with open(report, encoding="utf-8") as file:
        run = json.load(file)
    level = run["levels"]["L1D"]
    own = [each for each in run["attribution"]["functions"] if each["module"] == os.path.basename(command[0])]
    return (level["loads"], level["stores"], level["load_misses"] + level["store_misses"],
            sum(each["accesses"] for each in own), sum(each["misses"]["L1D"] for each in own))


def main():
    cachetally, rows = sys.argv[1:3]
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    print("program | own time, s | record | references | loads | stores | misses | own accesses | own misses")
    print("---|---|---|---|---|---|---|---|---")
    for line in open(rows, encoding="utf-8"):
        native, compiled, *arguments = shlex.split(line)
        with tempfile.TemporaryDirectory() as folder:
            record = [cachetally, "record", "--force", "-o", os.path.join(folder, "t.ct.h5"), "--", compiled, *arguments]
            times = [(seconds([native, *arguments]), seconds(record)) for _ in range(runs)]
            own, recorded = (statistics.median(each) for each in zip(*times))
            seen = counts(cachetally, "compiled", [compiled, *arguments], folder)
            there = counts(cachetally, "valgrind", [native, *arguments], folder)
        shares = " | ".join(f"{100 * a / max(b, 1):.1f} %" for a, b in zip(seen, there))
        print(f"{os.path.basename(native)} | {own:.3f} | {recorded / own:.1f} x | {seen[0] + seen[1]:,} | {shares}", flush=True)


if __name__ == "__main__":
    main()
