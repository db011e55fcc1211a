#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Traces of lackey, by itself and by cachetally, and with names from --symbols beside a capture that has them.

  named_test.py CACHETALLY KNOWN

Addresses are fixed (setarch -R). Exit status 77: that is not possible here.
"""
import json
import os
import subprocess
import sys
import tempfile

PLACE = 0x108000  # where valgrind puts programs that may lie anywhere


def call(*words):
    return subprocess.run(["setarch", "-R", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout


def symbols(program):
    lines = subprocess.run(["nm", program], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    return {line.split()[-1]: PLACE + int(line.split()[0], 16) for line in lines if len(line.split()) == 3}


def named(rows):
    return {row["name"]: row["accesses"] for row in rows}


def main():
    program, known = sys.argv[1:]
    if subprocess.run(["setarch", "-R", "true"], check=False).returncode != 0:
        print("skipped: addresses cannot be fixed here (setarch -R)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as directory:
        path = lambda name: os.path.join(directory, name)
        options = ["--monitor", "none", "--json"]

        def live(name, *words):
            call(program, "run", *options, "--report", path(name), *words, "--", known, "sweep")
            with open(path(name), encoding="utf-8") as file:
                return json.load(file)

        # by cachetally and by hand
        call("valgrind", "--tool=lackey", "-q", "--trace-mem=yes", "--basic-counts=no", "--log-file=" + path("t.lackey"), known, "sweep")
        by_lackey = live("lackey", "--with", "lackey")
        by_hand = json.loads(call(program, "replay", path("t.lackey"), *options))
        for what in ("references", "levels", "tlbs", "memories", "cycles"):
            assert by_lackey[what] == by_hand[what], f"{what} differ"
        assert not by_lackey.get("attribution"), "lackey has no sites"

        # variables have the accesses that the capture finds
        place = f"{known}@{PLACE:#x}"
        with_names = json.loads(call(program, "replay", path("t.lackey"), "--symbols", place, *options))
        found, expected = named(with_names["attribution"]["structures"]), named(live("valgrind")["attribution"]["structures"])
        assert found["matrix"] == expected["matrix"] == 2 * 64 * 64, found["matrix"]
        assert "sweep" in named(with_names["attribution"]["functions"])
        begun = json.loads(call(program, "replay", path("t.lackey"), "--symbols", place, "--from", "main", *options))
        assert 0 < begun["references"] < with_names["references"]
        assert named(begun["attribution"]["structures"])["matrix"] == found["matrix"]

        # recording from a function on gives the end of the whole
        for name, words in (("all", []), ("late", ["--from", "main"])):
            call(program, "record", "-o", path(name + ".ct.h5"), *words, "--", known, "sweep")
            call(program, "trace", "export", path(name + ".ct.h5"), "-o", path(name), "--to", "din")
        with open(path("all"), encoding="utf-8") as whole, open(path("late"), encoding="utf-8") as late:
            whole, late = whole.read().splitlines(), late.read().splitlines()
        assert 0 < len(late) < len(whole) and whole[-len(late):] == late, "--from is not the end of the whole"
        assert int(late[0].split()[1], 16) == symbols(known)["main"] and late[0].split()[0] == "2"

        # code of data references is the instruction before
        of = symbols(known)
        with open(path("made.lackey"), "w", encoding="utf-8") as file:
            for name, data in (("main", "matrix"), ("sweep", "matrix"), ("sweep", "main")):
                file.write(f"I  {of[name]:08x},4\n L {of[data]:x},8\n")
        made = json.loads(call(program, "replay", path("made.lackey"), "--symbols", place, *options))["attribution"]
        assert named(made["functions"]) == {"main": 2, "sweep": 4}, made["functions"]
        assert named(made["structures"]) == {"matrix": 2, "(known)": 1}, made["structures"]
        assert any(row["name"].startswith("known.c:") for row in made["lines"]), made["lines"]
    print("lackey, its names, and --from are as they should be")


if __name__ == "__main__":
    main()
