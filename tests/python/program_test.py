# SPDX-License-Identifier: BSD-3-Clause
"""Runs from Python, files that are refused, the page docs/python.md, and the types of the package."""
import contextlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import unittest
from unittest import mock

import cachetally
import h5py
from cachetally import damage
from support import InDirectory, call, call_json, program, root


class Runs(InDirectory):
    def test_a_run_is_that_of_the_command_line(self):
        words = ("lu", "n=24", "-m", "schulz2002", "--monitor", "link=core-L1,counters=8", "--monitor", "link=L1-L2,counters=4", "--cores", "2", "--causes")
        told = call_json("run", *words)
        with cachetally.run("lu", "n=24", machine="schulz2002", monitor=["link=core-L1,counters=8", "link=L1-L2,counters=4"], cores=2, causes=True,
                            reuse=False, warmup=None) as result:
            self.assertFalse(os.path.exists(result.path))  # the temporary file went, its contents are there
            for name, monitor in told["monitors"].items():
                self.assertEqual(result.histogram(name)["count"].sum(), monitor["events"])
            self.assertEqual(len(result.file["monitors"].attrs["groups"]), 2)
            self.assertEqual(result.misses("L1", by="phase")["misses"].sum(), sum(told["levels"]["L1"][name] for name in ("load_misses", "store_misses", "fetch_misses")))
            self.assertIn("causes", result.file)
            self.assertNotIn("reuse", result.file)

    def test_one_monitor_is_a_text_and_files_are_kept_where_asked(self):
        path = self.directory / "kept.h5"
        cachetally.run("lu", "n=16", machine="schulz2002", monitor="none", output=path).close()
        self.assertNotIn("monitors", cachetally.load(path).file)
        with self.assertRaisesRegex(cachetally.CachetallyError, "kept.h5.*--force"):
            cachetally.run("lu", "n=16", output=path)
        cachetally.run("lu", "n=16", output=path, force=True).close()

    def test_a_replay_is_the_run_that_was_recorded(self):
        call("trace", "convert", "lu", self.directory / "lu.ct.h5", "n=16")
        with cachetally.run("lu", "n=16", monitor="none") as run, cachetally.replay(self.directory / "lu.ct.h5", monitor="none") as replay:
            self.assertTrue(run.levels_table().equals(replay.levels_table()))

    def test_sweep(self):
        told = call_json("sweep", "lu", "n=16", "-m", "schulz2002", "--counters", "4,16", "--vary", "ways=0,2", "--vary", "width=4,8")
        frame = cachetally.sweep("lu", "n=16", machine="schulz2002", counters=[4, 16], vary=["ways=0,2", "width=4,8"])
        self.assertEqual(sorted(frame["swapouts"]), sorted(row["swapouts"] for row in told["rows"]))
        self.assertEqual(len(frame), 2 * 6 * 4)

    def test_errors_are_the_programs_own(self):
        for ask, said in (
            (lambda: cachetally.run("lux"), "there is no workload 'lux'; did you mean 'lu'"),
            (lambda: cachetally.run("lu", "n=4x"), "n=4x is not a whole number"),
            (lambda: cachetally.run("lu", machine="nope"), "nope: error: this is no built-in machine"),
            (lambda: cachetally.run("lu", no_such_option=True), "--no-such-option"),
            (lambda: cachetally.sweep("lu", counters=["x"]), "--counters"),
            (lambda: cachetally.sweep("lu", counters=[]), "--counters: the list is empty"),
            (lambda: cachetally.run("lu", program=self.directory / "absent"), "there is no program '.*absent' .program=.; install the package"),
        ):
            with self.subTest(said), self.assertRaisesRegex(cachetally.CachetallyError, said):
                ask()

    def test_where_the_program_is_looked_for(self):
        with mock.patch.dict(os.environ, {"CACHETALLY": "/nowhere/cachetally"}):
            with self.assertRaisesRegex(cachetally.CachetallyError, "'/nowhere/cachetally' .CACHETALLY."):
                cachetally.run("lu")
            self.assertEqual(cachetally.find_program(program), program)
        with mock.patch.dict(os.environ, {"PATH": str(self.directory)}):
            del os.environ["CACHETALLY"]
            with self.assertRaisesRegex(cachetally.CachetallyError, "'cachetally' .PATH."):
                cachetally.run("lu")
            os.symlink(program, self.directory / "cachetally")
            self.assertEqual(cachetally.find_program(), str(self.directory / "cachetally"))


class Files(InDirectory):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path, _ = cls.made("r.h5", "run", "lu", "n=16", "-m", "schulz2002")
        cls.whole = cls.path.read_bytes()

    def refused(self, data, said, **how):
        path = self.directory / "other.h5"
        path.write_bytes(data)
        with self.assertRaisesRegex(cachetally.CachetallyError, "other.h5: " + said):
            cachetally.load(path, **how)

    def test_damage(self):
        whole, size = self.whole, len(self.whole)
        for at in range(0, size - 32, size // 40):  # but the end of the trailer
            changed = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
            self.refused(changed, "is damaged: (bytes 0 to|its digests)")
        for at in range(size - 32, size):  # the end of the trailer
            self.refused(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :], "is damaged|does not end in its digests|has digests of version")
        self.refused(whole[:-1], "does not end in its digests")
        self.refused(whole[:5000] + whole[5001:], r"is damaged: it should have \d+ bytes and has \d+")
        self.refused(b"", "is no result of cachetally: it has 0 bytes")

    def test_damage_of_a_later_block(self):
        path, _ = self.made("large.h5", "run", "gups", "updates=150000", "-m", "schulz2002")
        data = bytearray(path.read_bytes())
        self.assertGreater(len(data), 3 << 20)
        cachetally.load(path).close()
        data[(2 << 20) + 17] ^= 4
        self.refused(bytes(data), "is damaged: bytes 2097152 to 3145727 are not what was written")

    def test_other_files(self):
        with h5py.File(self.directory / "foreign.h5", "w") as file:
            file.attrs["format"] = "another"
        foreign = (self.directory / "foreign.h5").read_bytes()
        self.refused(foreign, "does not end in its digests.*trust=True")
        self.refused(foreign, "is an HDF5 file, but not a result of cachetally", trust=True)
        self.refused(b"text\n" * 100, "is no HDF5 file, or is damaged", trust=True)
        with self.assertRaisesRegex(cachetally.CachetallyError, "absent.h5: No such file"):
            cachetally.load(self.directory / "absent.h5")
        call("trace", "convert", "lu", self.directory / "t.ct.h5", "n=16")
        with self.assertRaisesRegex(cachetally.CachetallyError, "is a trace, not a result.*replay"):
            cachetally.load(self.directory / "t.ct.h5")
        changed = self.directory / "later.h5"
        shutil.copy(self.path, changed)
        with h5py.File(changed, "r+") as file:
            file.attrs["format_version"] = 2
        self.refused(changed.read_bytes(), "does not end in its digests")
        self.refused(changed.read_bytes(), "has version 2 of the format, and this package reads version 1; use a newer", trust=True)

    def test_trust_and_absent_xxhash(self):
        at = len(self.whole) // 2
        path = self.directory / "changed.h5"
        path.write_bytes(self.whole[:at] + bytes([self.whole[at] ^ 1]) + self.whole[at + 1 :])
        self.assertFalse(cachetally.load(path, trust=True).verified)
        with mock.patch.object(damage, "xxhash", None):
            self.assertFalse(cachetally.load(self.path).verified)
            self.refused(self.whole[:-1], "does not end in its digests")
            self.refused(self.whole[:5000] + self.whole[5001:], "is damaged: it should have")

    def test_partial_results_say_why(self):
        (self.directory / "bad.din").write_text("0 1000\n1 2000\nbroken\n")
        call("trace", "convert", "bad.din", "part.ct.h5", cwd=self.directory, status=1)
        call("replay", "part.ct.h5", "-o", "part.h5", cwd=self.directory)
        result = cachetally.load(self.directory / "part.h5")
        self.assertFalse(result.complete)
        self.assertIn("bad.din:3:1", result.incomplete)
        self.assertIn("partial", repr(result))


class Page(InDirectory):
    def test_the_example_of_the_page_prints_what_it_says(self):
        blocks = re.findall(r"```(python|text)\n(.*?)```", (root / "docs/python.md").read_text(), re.S)
        self.assertEqual([kind for kind, _ in blocks], ["python", "text"])
        told = io.StringIO()
        with contextlib.redirect_stdout(told), contextlib.chdir(self.directory):
            exec(blocks[0][1], {"__name__": "docs"})
        self.assertEqual([line.rstrip() for line in told.getvalue().splitlines()], blocks[1][1].splitlines())

    def test_the_page_names_all_that_there_is(self):
        page = (root / "docs/python.md").read_text()
        public = [name for name in vars(cachetally.Result) if not name.startswith("_")]
        self.assertEqual([name for name in [*public, "load", "run", "sweep"] if f"`{name}" not in page and f".{name}" not in page], [])


class Types(unittest.TestCase):
    @unittest.skipUnless(shutil.which("mypy", path="/usr/bin:/usr/local/bin"), "there is no mypy (Debian: mypy)")
    def test_strict(self):
        done = subprocess.run(["/usr/bin/mypy", "--strict", "--ignore-missing-imports", "--cache-dir", os.devnull, "cachetally"], cwd=root / "python", capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(pathlib.Path(root, "python/cachetally/py.typed").exists())


if __name__ == "__main__":
    unittest.main()
