# SPDX-License-Identifier: BSD-3-Clause
"""Results in Python against the JSON of the same commands, and against h5py read directly."""
import json
import unittest

import h5py
import numpy as np

import cachetally
from support import InDirectory, call, call_json

CAUSES = ("first_use", "invalidated", "capacity", "conflict")
RUNS = {
    "lu": ("run", "lu", "n=32", "-m", "schulz2002", "--causes"),
    "mapped": ("run", "matmul", "n=24", "-m", "generic3", "--causes", "--monitor", "link=L1D-L2,functions=on,counters=16"),
    "coherent": ("run", "radix", "keys=500", "processors=8", "-m", "coherent8", "--causes"),
    "prefetched": ("run", "stream", "-m", "x86-desktop", "--count", "30000"),
}


def of_all_objects(path):
    """What /consolidated_metadata tells, by h5py alone."""
    def value(found):
        return found if isinstance(found, str) else found.item() if np.ndim(found) == 0 else list(found)

    def described(entry):
        attributes = {name: value(entry.attrs[name]) for name in entry.attrs if name not in ("CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST")}
        what = {"shape": list(entry.shape)} if isinstance(entry, h5py.Dataset) else {"members": [name for name in entry if name != "consolidated_metadata"]}
        return {"attributes": attributes, **what}

    with h5py.File(path) as file:
        found = {"/": described(file)}
        file.visititems(lambda name, entry: found.update({name: described(entry)}))
    return {name: each for name, each in found.items() if name.split("/")[0] not in ("provenance", "consolidated_metadata")}


def filled(counts):
    """Without zeros, which some tables leave out."""
    return {name: count for name, count in counts.items() if count != 0}


class Metadata(InDirectory):
    def test_of_all_objects_are_in_one_place(self):
        made = {**RUNS, "sweep": ("sweep", "lu", "n=32", "--counters", "4-16"), "probe": ("probe", "l1", "-m", "generic3")}
        for name, words in made.items():
            path, _ = self.made(f"{name}.h5", *words)
            with h5py.File(path) as file:
                table = file["consolidated_metadata"]
                told = json.loads(table[()])
                self.assertEqual(dict(table.attrs), {"_Encoding": "utf-8", "long_name": "consolidated metadata"})
            expected = of_all_objects(path)
            self.assertEqual(list(told), sorted(expected, key=str.encode))
            for path_in_file, each in expected.items():
                self.assertEqual(told[path_in_file], each, path_in_file)
            self.assertGreater(len(told), 20)


class Runs(InDirectory):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.runs = {}
        for name, words in RUNS.items():
            path, told = cls.made(f"{name}.h5", *words)
            result = cachetally.load(path)
            cls.addClassCleanup(result.close)
            cls.runs[name] = (result, told)

    def each(self):
        yield from self.runs.values()

    def each_level(self):
        for result, told in self.each():
            self.assertEqual(result.levels, [*told["levels"], *told["tlbs"]])
            for level in result.levels:
                yield result, told, level

    def test_what_a_result_says_of_itself(self):
        for name, (result, told) in self.runs.items():
            self.assertEqual((result.kind, result.complete, result.incomplete, result.verified), ("run", told["complete"], "", True))
            self.assertEqual(result.provenance["machine_name"], told["machine"])
            self.assertEqual(result.provenance["command_line"][1:3], list(RUNS[name][:1]) + ["-o"])
            self.assertEqual(result.provenance["execution"], told["execution"])
            self.assertIn(f"name: {told['machine']}", result.machine)
            frame = result.phases
            self.assertEqual(list(frame.index), list(range(len(told["phases"]))))
            for column in ("references", "cycles", "page_walks"):
                self.assertEqual(list(frame[column]), [phase[column] for phase in told["phases"]])
            self.assertEqual(frame.attrs["units"]["end"], "ps")

    def test_by_structure(self):
        for result, told, level in self.each_level():
            if level not in told["structures_exact"]:
                with self.assertRaisesRegex(cachetally.CachetallyError, f"no counts of {level} by data structure, only of L1D"):
                    result.misses(level)
                continue
            for what, frame in (("misses", result.misses(level)), ("accesses", result.accesses(level, by="structure"))):
                expected = {name: each["levels"][level][what] for name, each in told["structures"].items() if level in each["levels"]}
                self.assertEqual((list(frame.columns), frame.index.name), ([what], "structure"))
                self.assertEqual(filled(frame[what].to_dict()), filled(expected))
                self.assertEqual(frame.attrs["exact"], told["structures_exact"][level])
                for number, phase in enumerate(told["phases"]):
                    by_phase = {name: each[level][what] for name, each in phase["structures"].items() if level in each}
                    ask = result.misses if what == "misses" else result.accesses
                    self.assertEqual(filled(ask(level, phase=number)[what].to_dict()), filled(by_phase))

    def test_by_phase(self):
        for result, told, level in self.each_level():
            for what in ("misses", "accesses"):
                expected = [demand(phase, level)[what] for phase in told["phases"]]
                ask = result.misses if what == "misses" else result.accesses
                frame = ask(level, by="phase")
                self.assertEqual(list(frame[what]), expected)
                self.assertEqual(frame.index.name, "phase")
                last = len(expected) - 1
                self.assertEqual(ask(level, by="phase", phase=last)[what].to_dict(), {last: expected[last]})

    def test_by_cause(self):
        seen = 0
        for result, told, level in self.each_level():
            if level not in told.get("causes", {}):
                continue
            rows = told["causes"][level]["misses"]
            found = result.misses(level, by="cause")["misses"]
            self.assertEqual(found.to_dict(), {cause: sum(row[cause] for row in rows) for cause in CAUSES})
            self.assertEqual(found.sum(), demand(told, level)["misses"])
            for phase in range(len(told["phases"])):
                expected = {cause: sum(row[cause] for row in rows if row["phase"] == phase) for cause in CAUSES}
                self.assertEqual(result.misses(level, by="cause", phase=phase)["misses"].to_dict(), expected)
            seen += found.sum()
        self.assertGreater(seen, 0)

    def test_by_line(self):
        for result, told, level in self.each_level():
            if level not in result.file["combined"]:
                with self.assertRaisesRegex(cachetally.CachetallyError, f"no counts of {level} by line, only of L1D"):
                    result.misses(level, by="line")
                continue
            group = result.file[f"combined/{level}"]
            phases, addresses, misses = (group[name][:] for name in ("phase", "address", "misses"))
            for phase in (None, int(phases[-1]) if len(phases) else 0):
                expected = {}
                for row in range(len(addresses)):
                    if phase is None or phases[row] == phase:
                        expected[addresses[row]] = expected.get(addresses[row], 0) + misses[row]
                frame = result.misses(level, by="line", phase=phase)
                self.assertEqual(frame["misses"].to_dict(), expected)
                self.assertEqual(frame.attrs["units"], {"misses": "1", "address": "bytes"})
            both = result.combined(level)
            self.assertEqual(both.index.names, ["phase", "address"])
            if level in told.get("causes", {}) and len(addresses):
                by_cause = {cause: group[cause][:] for cause in CAUSES}
                self.assertEqual(sum(by_cause.values()).tolist(), misses.tolist())
                for phase in range(len(told["phases"])):
                    expected = {cause: sum(row[cause] for row in told["causes"][level]["misses"] if row["phase"] == phase) for cause in CAUSES}
                    self.assertEqual({cause: counts[phases == phase].sum() for cause, counts in by_cause.items()}, expected)
            else:
                self.assertNotIn(CAUSES[0], group)
            np.testing.assert_array_equal(both["misses"], misses)
            self.assertEqual(both.attrs["line_bytes"], group.attrs["line_bytes"])

    def test_levels_table(self):
        for result, told in self.each():
            frame = result.levels_table()
            for level, row in frame.iterrows():
                expected = demand(told, level)
                self.assertEqual((row["accesses"], row["misses"]), (expected["accesses"], expected["misses"]))
                rate = expected["misses"] / expected["accesses"] if expected["accesses"] else 0.0
                self.assertEqual(row["miss_rate"], rate)
                for name, count in told["levels"].get(level, {}).items():
                    self.assertEqual(row[name], count)

    def test_histograms(self):
        for result, told in self.each():
            for name, monitor in told["monitors"].items():
                frame = result.histogram(name)
                self.assertEqual(frame["count"].sum() + monitor["lost"], monitor["events"])
                self.assertEqual([result.histogram(name, phase=i)["count"].sum() for i in range(len(told["phases"]))], [each["events"] for each in monitor["phases"]])
            for link in result.file["links"].attrs["names"]:
                group = result.file[f"links/{link}"]
                if not len(group):
                    with self.assertRaisesRegex(cachetally.CachetallyError, f"no events on {link}"):
                        result.histogram(link=link)
                    continue
                everything = result.histogram(link=link)
                for kind, each in group.items():
                    np.testing.assert_array_equal(result.histogram(link=link, kind=kind)["count"], each["count"][:])
                    self.assertEqual(everything["count"][everything["kind"] == kind].sum(), each.attrs["events"])
        result, told = self.runs["mapped"]
        by_function = result.histogram(monitor="L1D-L2").groupby("function")["count"].sum()
        self.assertEqual(by_function.to_dict(), told["monitors"]["L1D-L2"]["functions"])

    def test_other_groups(self):
        result, _ = self.runs["coherent"]
        frame = result.table("/sharing", index=["level"])
        self.assertEqual(len(frame), len(result.file["sharing/level"]))
        with h5py.File(result.path) as file:
            np.testing.assert_array_equal(frame["false_sharing"], file["sharing/false_sharing"][:])
        self.assertEqual(list(self.runs["lu"][0].table("/levels/L1"))[:3], ["loads", "load_misses", "stores"])  # as the file orders them
        grid = self.runs["lu"][0].to_xarray("/combined/L1/grid")
        by_line = self.runs["lu"][0].misses("L1", by="line", phase=4)["misses"]
        at = by_line.idxmax()
        self.assertEqual(float(grid["misses"].sel(phase=4, address=at)), by_line[at])

    def test_wrong_questions_are_answered_with_what_there_is(self):
        result, _ = self.runs["lu"]
        for ask, said in (
            (lambda: result.misses("L9"), "no level 'L9'; there are: L1, L2$"),
            (lambda: result.misses("L1", phase=8), "no phase 8; there are 8, from 0 to 7"),
            (lambda: result.misses("L1", phase=-1), "no phase -1"),
            (lambda: result.misses("L1", by="core"), "'core'; there are: structure, phase, cause, function, line"),
            (lambda: result.misses("L1", by="function"), "does not say which functions miss L1"),
            (lambda: self.runs["prefetched"][0].misses("L2", by="cause"), "no causes of misses of L2; run with causes=True"),
            (lambda: result.accesses("L1", by="cause"), "there are: structure, phase, line"),
            (lambda: result.combined("L9"), "no level 'L9'"),
            (lambda: result.histogram("L9"), "no monitor 'L9'; there are: core-L1, L1-L2, L2-memory"),
            (lambda: result.histogram(link="L9"), "no link 'L9'; there are: "),
            (lambda: result.histogram(link="core-L1", kind="fetch"), "'fetch'; there are: load, store"),
            (lambda: result.histogram("core-L1", phase=9), "no phase 9"),
            (lambda: result.histogram("core-L1", kind="load"), "kind= is of links"),
            (lambda: result.sweep(), "is of kind run; this asks for one of kind sweep"),
            (lambda: result.table("/nothing"), "has no group /nothing; a result of kind run has here: /causes, "),
            (lambda: result.table("/links"), "/links: has no columns; it has the groups and tables: "),
            (lambda: result.table("/phases/begin"), "is a column, not a group"),
        ):
            with self.subTest(said), self.assertRaisesRegex(cachetally.CachetallyError, said):
                ask()


def demand(told, level):
    """Accesses and misses of loads, stores and fetches, from JSON."""
    if level in told["tlbs"]:
        return told["tlbs"][level]
    counts = told["levels"][level]
    return {
        "accesses": counts["loads"] + counts["stores"] + counts["fetches"],
        "misses": counts["load_misses"] + counts["store_misses"] + counts["fetch_misses"],
    }


class Programs(InDirectory):
    def test_by_function(self):
        path = self.directory / "ls.h5"
        result = cachetally.run(["ls", "/usr"], causes=True, count=60000, output=path)
        told = call_json("show", path)
        for level in result.levels:
            expected = {}
            for row in told["attribution"]["functions"]:
                expected[row["name"]] = expected.get(row["name"], 0) + row["misses"][level]
            found = result.misses(level, by="function")["misses"]
            self.assertEqual(filled(found.to_dict()), filled(expected))
            self.assertEqual(found.sum(), demand(told, level)["misses"])
            for ask, what in ((result.misses, "misses"), (result.accesses, "accesses")):  # fetches are among them
                self.assertEqual(ask(level, by="phase")[what].sum(), demand(told, level)[what])
        self.assertGreater(told["levels"]["L1I"]["fetch_misses"], 0)
        causes = result.misses("L1D", by="cause")["misses"]
        self.assertEqual(causes.to_dict(), {cause: sum(row["causes"]["L1D"][cause] for row in told["attribution"]["functions"]) for cause in CAUSES})
        self.assertEqual(result.misses("L1D", by="function", phase=0)["misses"].sum(), causes.sum())
        result.close()


class OtherKinds(InDirectory):
    def test_sweep(self):
        path, told = self.made("s.h5", "sweep", "--workload", "lu,n=16", "--workload", "radix,keys=300", "-m", "schulz2002", "--counters", "4,16", "--granularity", "1,2",
                               "--vary", "ways=0,2")
        frame = cachetally.load(path).sweep()
        self.assertEqual(frame.index.names, ["workload", "link", "settings", "eviction", "granularity", "counters"])
        self.assertEqual(len(frame), len(told["rows"]))
        for row in told["rows"]:
            mine = frame.loc[tuple(str(row[name]) if name == "granularity" else row[name] for name in frame.index.names)]
            for name in ("events", "swapouts", "error", "bytes_per_event", "bits", "comparators", "area", "energy", "admitted", "front", "remains"):
                self.assertEqual(mine[name], row[name], (row, name))
        self.assertEqual((frame.attrs["references"], frame.attrs["events"], frame.attrs["runs"]), (told["references"], told["events"], told["runs"]))
        one, told = self.made("one.h5", "sweep", "lu", "n=16", "-m", "schulz2002", "--counters", "4")
        result = cachetally.load(one)
        self.assertEqual(result.histogram()["count"].sum(), told["events"])
        with self.assertRaisesRegex(cachetally.CachetallyError, "has no group /levels; a result of kind sweep has here"):
            result.levels

    def test_intrusion_and_trackers(self):
        path, told = self.made("i.h5", "intrusion", "lu", "n=16", "-m", "generic3-timed", "--counters", "16,64")
        result = cachetally.load(path)
        frame = result.table("/intrusion/rows")
        self.assertEqual(list(frame["extra_cycles"]), [row["extra_cycles"] for row in told["rows"]])
        self.assertIn("extra_misses", frame.attrs["left_out"])
        misses = result.to_xarray("/intrusion/rows")["extra_misses"]
        for number, row in enumerate(told["rows"]):
            self.assertEqual({level: int(misses.sel(row=number, level=level)) for level in row["extra_misses"]}, row["extra_misses"])
        path, told = self.made("t.h5", "trackers", "lu", "n=16", "-m", "schulz2002")
        frame = cachetally.load(path).table("/trackers/rows")
        self.assertEqual([list(frame[name]) for name in ("tracker", "recall", "bits")], [[row[name] for row in told["rows"]] for name in ("tracker", "recall", "bits")])

    def test_what_is_closed_says_so(self):
        path, _ = self.made("closed.h5", "run", "lu", "n=16")
        with cachetally.load(path) as result:
            with self.assertRaisesRegex(cachetally.CachetallyError, "there is no phase x"):
                result.misses("L1D", phase="x")
        self.assertIn("closed", repr(result))
        for ask in (lambda: result.kind, lambda: result.misses("L1D"), lambda: result.file):
            with self.assertRaisesRegex(cachetally.CachetallyError, "is closed; load it again"):
                ask()

    def test_points_of_a_campaign(self):
        (self.directory / "c.yaml").write_text(
            "machines: [{machine: generic3, set: {L2.size: [256 KiB, 1 MiB]}}]\n"
            "workloads: [{run: lu, set: {n: 16}}, radix]\nmonitors: [none, {set: {counters: [4, 8]}}]\ncount: 5000\n"
        )
        call("campaign", "run", "c.yaml", cwd=self.directory)
        path = self.directory / "c.campaign/result.h5"
        result = cachetally.load(path)
        frame = result.points()
        self.assertEqual(frame.attrs["parameters"], ["machine", "workload", "seed", "monitor", "L2.size", "n", "counters"])
        self.assertEqual(list(frame.columns), [*frame.attrs["parameters"], *frame.attrs["measures"], "failed", "hash"])
        with h5py.File(path) as file:
            for name in frame.columns:
                column = file["campaign"][name]
                wanted = column.asstr()[()] if column.dtype.kind == "S" else column[()]
                self.assertTrue(np.array_equal(frame[name].to_numpy(), wanted, equal_nan=column.dtype.kind == "f"), name)
        self.assertEqual(len(frame), 12)
        self.assertEqual(frame[frame["counters"] == 8].groupby("workload")["events"].max()["lu"], 5000)
        dataset = result.to_xarray("/campaign")
        self.assertEqual(dict(dataset.sizes), {"point": 12})
        self.assertEqual(list(dataset["workload"].values), list(frame["workload"]))
        self.assertEqual(float(dataset["misses_L1D"].sel(point=3)), frame["misses_L1D"][3])

    def test_probe_and_validate(self):
        path, told = self.made("p.h5", "probe", "levels", "--machine", "xray-pentium4xeon", "--arena", "1")
        frame = cachetally.load(path).findings()
        self.assertEqual(len(frame), len(told["results"]))
        for (_, mine), row in zip(frame.iterrows(), told["results"]):
            self.assertEqual([mine[name] for name in ("test", "variant", "level", "parameter", "unit", "method", "verdict")],
                             [row[name] for name in ("test", "variant", "level", "parameter", "unit", "method", "verdict")])
            if not isinstance(row["value"], str):
                self.assertEqual(None if np.isnan(mine["value"]) else mine["value"], row["value"])
        path, told = self.made("v.h5", "validate", "--machines", "2", "--tests", "l1")
        frame = cachetally.load(path).scores()
        self.assertEqual(len(frame), len(told["summary"]))
        for row in told["summary"]:
            mine = frame.loc[row["test"], row["variant"], row["parameter"]]
            self.assertEqual([mine[name] for name in ("right", "wrong", "not_identifiable")], [row[name] for name in ("right", "wrong", "not_identifiable")])
        self.assertEqual(frame.attrs["machines"], told["machines"])


if __name__ == "__main__":
    unittest.main()
