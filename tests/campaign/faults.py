#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns that are disturbed at random moments: processes killed, disks full, files damaged. Once resumed, the result is that of an
undisturbed one, to the byte outside /provenance, and no bundle that was finished was written again.

    faults.py CACHETALLY [--runs 10] [--seed 1] [--only RUN]
"""
import argparse
import collections
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from campaigns import Campaigns, grid_text  # noqa: E402
from disturbances import ALONE, CLUSTER, FIRST, ON_CLUSTER, Run  # noqa: E402

MACHINE = pathlib.Path(__file__).parents[2] / "sim/machines/generic3.yaml"


class Setting:
    """What all runs have: the campaign, its undisturbed result, another campaign, and a cluster if there can be one."""

    def __init__(self, campaign, work):
        self.campaign, self.work = campaign, work
        self.machine = work / "machine.yaml"
        shutil.copy(MACHINE, self.machine)
        self.file, self.other = work / "grid.yaml", work / "other.yaml"
        self.file.write_text(grid_text("disturbed", [48, 64, 80], 10, [8, 16, 32, 64]).replace("generic3", "machine.yaml"))
        self.other.write_text(grid_text("another", [16], 30, [4, 8]))
        self.large = work / "large.yaml"
        self.large.write_text("machines: [generic3]\nworkloads:\n  - run: lu\n    set: {n: [16, 5000, 20]}\ncount: 1000\n")
        begun = time.monotonic()
        self.run(work / "expected")
        self.seconds = time.monotonic() - begun
        self.expected = work / "expected/result.h5"
        campaign("run", self.other, "--folder", work / "other")
        self.cluster = work / "cluster"
        self.has_cluster = subprocess.run([CLUSTER, "start", self.cluster], check=False).returncode == 0
        self.can_mount = os.geteuid() == 0 and self.mount(work / "try", "1M") and self.unmount(work / "try")

    def words(self, folder, jobs=2):
        return ["run", self.file, "--folder", folder, "--points-per-bundle", 8, "--jobs", jobs]

    def run(self, folder):
        return self.campaign(*self.words(folder))

    @staticmethod
    def mount(folder, size):
        folder.mkdir()
        return subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=False, capture_output=True).returncode == 0

    @staticmethod
    def unmount(folder):
        return subprocess.run(["umount", "-l", folder], check=False).returncode == 0

    def close(self):
        if self.has_cluster:
            subprocess.run([CLUSTER, "stop", self.cluster], check=False)


def decks(seed, runs, kinds):
    """Faults of each run: all kinds in turn, in a random order."""
    draw, deck = random.Random(seed), []
    for _ in range(runs):
        hand = []
        for _ in range(draw.choice([2, 2, 3])):
            if not deck:
                deck = draw.sample(kinds, len(kinds))
            hand.append(deck.pop())
        yield sorted(hand, key=lambda kind: kind not in FIRST)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("program")
    arguments.add_argument("--runs", type=int, default=10)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--only", type=int, help="this run alone")
    options = arguments.parse_args()
    done, failures = collections.Counter(), 0
    with tempfile.TemporaryDirectory(prefix="faults.") as name:
        work = pathlib.Path(name)
        os.environ["SLURM_CONF"] = str(work / "cluster/slurm.conf")
        os.environ["PATH"] += ":/usr/sbin"
        setting = Setting(Campaigns(options.program), work)
        kinds = ALONE + (ON_CLUSTER if setting.has_cluster else []) + (["full_disk"] if setting.can_mount else [])
        try:
            for number, hand in enumerate(decks(options.seed, options.runs, kinds)):
                if options.only not in (None, number):
                    continue
                run = Run(setting, work / f"run{number}", random.Random(f"{options.seed} {number}"))
                begun, kind = time.monotonic(), ""
                try:
                    for kind in hand:
                        done[kind] += getattr(run, kind)() is not False
                    kind = "the end"
                    run.finish()
                    print(f"run {number}: {', '.join(hand)}: equal, {time.monotonic() - begun:.1f} s", flush=True)
                except (AssertionError, OSError, LookupError, subprocess.SubprocessError) as error:
                    failures += 1
                    print(f"run {number}: {', '.join(hand)}: FAILED at {kind}: {error}\n  repeat: --seed {options.seed} --runs {options.runs} "
                          f"--only {number}", flush=True)
                if setting.has_cluster:
                    subprocess.run(["scancel", "-u", "root"], check=False)
                if run.mounted:
                    setting.unmount(run.folder)
        finally:
            setting.close()
    for kind in kinds:
        print(f"{done[kind]:4} {getattr(Run, kind).__doc__}")
    for missing, what in ((setting.has_cluster, "on a cluster (it needs root and slurm-wlm)"), (setting.can_mount, "full disks (mount needs root)")):
        if not missing:
            print(f"  no faults {what}")
    print(f"{failures} of {options.runs if options.only is None else 1} runs differ or fail")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
