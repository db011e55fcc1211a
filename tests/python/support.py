# SPDX-License-Identifier: BSD-3-Clause
"""For tests in Python: the program, and what it prints as JSON. main.py says how they are begun."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

root = pathlib.Path(__file__).resolve().parents[2]
program = os.environ["CACHETALLY"]


def call(*words, cwd=None, status=0):
    """What the program prints; it must end with this status."""
    done = subprocess.run([program, *map(str, words)], cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == status, f"{' '.join(map(str, words))}: status {done.returncode}\n{done.stderr}"
    return done.stdout


def call_json(*words, cwd=None, status=0):
    return json.loads(call(*words, "--json", cwd=cwd, status=status))


class InDirectory(unittest.TestCase):
    """A directory for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.held = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.held.cleanup)
        cls.directory = pathlib.Path(cls.held.name)

    @classmethod
    def made(cls, name, *words, status=0):
        """The path of a file that a command writes, and its JSON."""
        path = cls.directory / name
        return path, call_json(*words[:1], "-o", path, *words[1:], cwd=cls.directory, status=status) if "--" not in words else None
