#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The capture tool beside valgrind's lackey: every instruction and reference of a program, in order.

  lackey_test.py TOOL_FOLDER PROGRAM [ARGUMENT]...

Both run it with the same descriptors, environment and addresses, and without preloaded wrappers. What differs between two runs under lackey itself
(bytes that the kernel draws) may differ here. Exit status 77: something is missing, and a line says what.
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
VALGRIND = "/usr/libexec/valgrind"


def fixed(command, folder):
    """Without random addresses, and with an environment of the same size whatever the tool."""
    variables = [f"VALGRIND_LIB={folder}", "VALGRIND_LAUNCHER=/usr/bin/valgrind"]
    with open(os.devnull, encoding="ascii") as nothing:
        return subprocess.run(["env", "-i", *variables, "setarch", "-R", *command], stdin=nothing,
                              stdout=subprocess.PIPE, check=False)


def lackey(folder, directory, program):
    """Lines "I ADDRESS,SIZE", "L ...", "S ..."; what is modified is loaded, then stored."""
    log = os.path.join(directory, "lackey")
    fixed([folder + "/lackey-amd64-linux", "--tool=lackey", "--trace-mem=yes", "--log-file=" + log, *program], folder)
    lines = []
    with open(log, encoding="ascii") as file:
        for line in file:
            if line[:3] not in ("I  ", " L ", " S ", " M "):
                continue
            place = line[3:].strip().lstrip("0")
            lines += [f"L {place}", f"S {place}"] if line[1] == "M" else [f"{line[:2].strip()} {place}"]
    return lines


def captured(folder, directory, program):
    out = os.path.join(directory, "ring")
    fixed(["/usr/bin/python3", HERE + "/ring_reader.py", folder, out, *program], folder)
    with open(out, encoding="ascii") as file:
        return [line.rstrip("\n") for line in file if not line.startswith("#")]


def main():
    tools, program = sys.argv[1], sys.argv[2:]
    if not os.path.exists(VALGRIND + "/lackey-amd64-linux"):
        skip("there is no lackey (Debian: valgrind)")
    if subprocess.run(["setarch", "-R", "true"], check=False).returncode != 0:
        skip("addresses cannot be fixed here (setarch -R)")
    with tempfile.TemporaryDirectory() as directory:
        folder = os.path.join(directory, "tools")  # of both tools
        os.mkdir(folder)
        for source in (VALGRIND, tools):
            for name in os.listdir(source):
                # without the preloaded library of the capture, of which lackey has none
                if not name.startswith("vgpreload_cachetally") and not os.path.lexists(os.path.join(folder, name)):
                    os.symlink(os.path.join(os.path.realpath(source), name), os.path.join(folder, name))
        first, second = lackey(folder, directory, program), lackey(folder, directory, program)
        ours = captured(folder, directory, program)
    assert len(first) > 1000, "lackey recorded nothing"
    assert len(ours) == len(first) == len(second), f"{len(ours)} references, lackey has {len(first)} and {len(second)}"
    drawn = sum(a != b for a, b in zip(first, second))
    assert drawn < 20, f"two runs under lackey differ in {drawn} lines"
    for number, (line, a, b) in enumerate(zip(ours, first, second)):
        assert line == a or a != b, f"line {number}: '{line}', but lackey has '{a}'"
    print(f"{len(ours)} lines are equal; {drawn} of these differ between two runs under lackey")


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


if __name__ == "__main__":
    main()
