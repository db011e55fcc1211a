#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program that is simulated while it runs, beside its recording: all results are equal.

  live_test.py CACHETALLY [--one-run TOOL_FOLDER] PROGRAM [ARGUMENT]...

Addresses are fixed (setarch -R), so that both runs of the program are one, but for what the loader does with the
kernel's random numbers: files, which have each line, are compared of programs that have a symbol main, from there on.
A program with threads runs once only (--one-run), and ring_player.py plays that run.
Exit status 77: that is not possible here.
"""
import json
import os
import subprocess
import sys
import tempfile

import h5py

# Recorded for as many cores as the machine has.
CASES = [
    ("1", ["-m", "generic3"]),
    ("1", ["-m", "generic3-timed", "--monitor", "none", "--causes", "--cycles", "--used-bytes", "--warmup", "1000"]),
    ("8", ["-m", "coherent8", "--causes", "--per-core", "--listener", "reuse"]),
]
PLAYER = os.path.join(os.path.dirname(os.path.realpath(__file__)), "ring_player.py")


def call(*words):
    return subprocess.run(["setarch", "-R", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout


def has_main(program):
    symbols = subprocess.run(["nm", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    return b" T main\n" in symbols


def contents(path):
    """All of a result file but where it comes from."""
    found = {}

    def take(name, item):
        if name.split("/")[0] in ("provenance", "input", "consolidated_metadata"):  # the last tells of the input, too
            return
        values = item[()].tobytes() if isinstance(item, h5py.Dataset) and item.dtype.kind != "O" else None
        if isinstance(item, h5py.Dataset) and item.dtype.kind == "O":
            values = [bytes(text) for text in item[()].ravel()]
        attributes = {key: str(value) for key, value in item.attrs.items() if "REFERENCE" not in key and key != "DIMENSION_LIST"}
        found[name] = (values, attributes)

    with h5py.File(path, "r") as file:
        file.visititems(take)
    return found


def differing(live, recorded):
    return sorted(key for key in live.keys() | recorded.keys() if live.get(key) != recorded.get(key))


def main():
    program, command = sys.argv[1], sys.argv[2:]
    if subprocess.run(["setarch", "-R", "true"], check=False).returncode != 0:
        print("skipped: addresses cannot be fixed here (setarch -R)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as directory:
        path = lambda name: os.path.join(directory, name)
        cases, begin = CASES, []
        if command[0] == "--one-run":
            cases = [("8", ["-m", "coherent8"])]
            tools, command = command[1], command[2:]
            played = {"CACHETALLY_CAPTURE": path("player"), "CACHETALLY_PLAYED": path("ring")}
            call(PLAYER, "save", tools, played["CACHETALLY_PLAYED"], "--", *command)
            call(PLAYER, "folder", played["CACHETALLY_CAPTURE"])
            os.environ.update(played)
        elif has_main(command[0]):
            begin = ["--from", "main"]
        for cores in sorted({cores for cores, _ in cases}):
            recorded = call(program, "record", "-o", path(cores + ".ct.h5"), "--fields", "--cores", cores, *begin, "--", *command)
        for cores, options in cases:
            files = ["-o", path("r.h5"), "--force"]
            run = [program, "run", "--fields", "--report", path("live"), *begin, *options]
            replay = [program, "replay", path(cores + ".ct.h5"), *options]
            shown = call(*run, "--json", *files, "--", *command)
            assert shown == recorded, "the program's output differs"
            with open(path("live"), encoding="utf-8") as file:
                live = json.load(file)
            live_file = contents(path("r.h5"))
            replayed = json.loads(call(*replay, "--json", *files))
            for result in (live, replayed):
                del result["input"], result["execution"]
            where = [key for key in differing(live, replayed) if begin or key != "listeners"]  # of the order of all
            assert not where, f"{options}: live and recorded differ in {where}"
            where = differing(live_file, contents(path("r.h5")))
            assert not begin or not where, f"{options}: files differ in {where}"
            if begin or "--listener" not in options:
                call(*run, "--", *command)
                with open(path("live"), encoding="utf-8") as file:
                    texts = [file.read().split("\n"), call(*replay).decode().split("\n")]
                for text in texts:
                    text.remove(next(line for line in text if line.endswith(f" on {options[1]}")))  # the heading, which names the input
                assert texts[0] == texts[1], f"{options}: texts differ"
            print(f"{' '.join(options)}: {live['references']} references, live and recorded are equal in {', '.join(live)}")


if __name__ == "__main__":
    main()
