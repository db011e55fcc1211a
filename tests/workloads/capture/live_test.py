#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program that is simulated while it runs, beside its recording: all results are equal.

  live_test.py CACHETALLY [--one-run TOOL_FOLDER] PROGRAM [ARGUMENT]...

Addresses are fixed (setarch -R), so that both runs of the program are one. A program with threads runs once only
(--one-run), and ring_player.py plays that run. Exit status 77: that is not possible here.
"""
import json
import os
import subprocess
import sys
import tempfile

OPTIONS, STREAMS = ["-m", "generic3", "--json"], []
PLAYER = os.path.join(os.path.dirname(os.path.realpath(__file__)), "ring_player.py")


def call(*words):
    return subprocess.run(["setarch", "-R", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout


def main():
    program, command = sys.argv[1], sys.argv[2:]
    if subprocess.run(["setarch", "-R", "true"], check=False).returncode != 0:
        print("skipped: addresses cannot be fixed here (setarch -R)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as directory:
        if command[0] == "--one-run":
            OPTIONS[1] = "coherent8"
            STREAMS[:] = ["--cores", "8"]
            tools, command = command[1], command[2:]
            played = {"CACHETALLY_CAPTURE": os.path.join(directory, "player"), "CACHETALLY_PLAYED": os.path.join(directory, "ring")}
            call(PLAYER, "save", tools, played["CACHETALLY_PLAYED"], "--", *command)
            call(PLAYER, "folder", played["CACHETALLY_CAPTURE"])
            os.environ.update(played)
        report, trace = os.path.join(directory, "live"), os.path.join(directory, "t.ct.h5")
        shown = call(program, "run", *OPTIONS, "--report", report, "--", *command)
        recorded = call(program, "record", *STREAMS, "-o", trace, "--", *command)
        assert shown == recorded, "the program's output differs"
        with open(report, encoding="utf-8") as file:
            live = json.load(file)
        replayed = json.loads(call(program, "replay", trace, *OPTIONS))
    for result in (live, replayed):
        del result["input"], result["execution"]
    differing = [key for key in live if live[key] != replayed.get(key)]
    assert live.keys() == replayed.keys() and not differing, f"live and recorded differ in {differing}"
    print(f"{live['references']} references: live and recorded are equal in {', '.join(live)}")


if __name__ == "__main__":
    main()
