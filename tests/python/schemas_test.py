# SPDX-License-Identifier: BSD-3-Clause
"""The schemas of docs/schemas: what each command prints with --json keeps its own, and what is changed in it does not."""
import copy
import json
import re
import sys
import unittest

import jsonschema

from support import InDirectory, call, root

SCHEMAS = {path.stem: json.loads(path.read_text()) for path in sorted((root / "docs/schemas").glob("*.json"))}
FILES = (  # files that cases read: status and words
    (0, "run lu n=16 -m generic3 --causes --reuse --monitor link=L1D-L2,functions=on,counters=4 -o a.h5"),
    (0, "run lu n=32 -m generic3 --causes -o b.h5"),
    (0, "run -m generic3 --causes --cycles --used-bytes --fields --count 60000 -o program.h5 --report report -- ls /usr"),
    (0, "sweep lu n=16 -m schulz2002 --counters 4,16 -o sweep.h5"),
    (0, "sweep --workload lu,n=16 --workload radix,keys=300 -m schulz2002 --counters 4 -o parts.h5"),
    (0, "intrusion lu n=16 -m generic3-timed --counters 16 -o intrusion.h5"),
    (0, "trackers lu n=16 -m schulz2002 -o trackers.h5"),
    (0, "probe levels --machine xray-pentium4xeon --arena 1 -o probe.h5"),
    (0, "probe response --machine tiny.yaml --robust --arena 1 -o response.h5"),
    (0, "validate --machines 1 --tests l1 -o validate.h5"),
    (0, "trace convert lu lu.ct.h5 n=16"),
    (1, "trace convert bad.din part.ct.h5"),
    (0, "replay part.ct.h5 -o part.h5"),
    (0, "replay good.din -o good.h5"),
    (0, "campaign run good.yaml"),
    (1, "campaign run bad.yaml"),
)
CASES = (  # schema, parts that must be there, status, words
    ("run", "execution check monitors.*.phases", 0, "run lu n=16 -m schulz2002"),
    ("run", "causes.*.misses causes.*.evictions reuse.*.distances cores", 0, "run radix keys=500 -m generic3 --causes --reuse --per-core"),
    ("run", "sharing.rows coherence phases.*.coherence quantum_ps", 0, "run radix keys=500 processors=8 -m coherent8 --causes --quantum 1us"),
    ("run", "numa phases.*.numa", 0, "run lu n=16 -m numa4"),
    ("run", "buses.*", 0, "run lu n=16 -m generic3-timed --monitor link=L1D-L2,functions=on"),
    ("run", "listeners.*.rows monitors.*.functions", 0, "run lu n=16 -m generic3 --listener reuse,link=L1D-L2 --monitor link=core-L1D,functions=on"),
    ("run", "", 0, "run lu n=16 -m generic3 --no-exact"),
    ("run", "attribution.functions.*.cores attribution.evictions.*.cycles attribution.used_bytes_of attribution.fields", 0,
     "run -m generic3 --causes --per-core --cycles --used-bytes --fields --count 60000 --report report --json -- ls /usr"),
    ("run", "incomplete", 0, "replay part.ct.h5"),
    ("run", "incomplete text", 1, "replay bad.din"),
    ("run", "text", 0, "replay good.din -m generic3"),
    ("run", "causes reuse", 0, "show a.h5"),
    ("run", "histogram.level", 0, "show a.h5 --level L1D --what missrate"),
    ("run", "histogram.monitor", 0, "show a.h5 --monitor L1D-L2"),
    ("explain", "execution", 0, "run lu --explain"),
    ("explain", "execution", 0, "replay good.din --explain"),
    ("sweep", "rows", 0, "sweep lu n=16 -m schulz2002 --counters 4,16 --granularity 1,dynamic:4 --where error<50"),
    ("sweep", "rows.*.slowdown", 0, "sweep lu n=16 -m generic3-timed --counters 4,16 --granularity 1 --slowdown"),
    ("sweep", "rows.*.published", 0, "sweep lu --preset paper-2002 --counters 128"),
    ("sweep", "worst rows.*.workload", 0, "sweep --workload lu,n=16 --workload radix,keys=300 -m schulz2002 --counters 4"),
    ("sweep", "rows", 0, "show sweep.h5"),
    ("sweep", "worst", 0, "show parts.h5"),
    ("sweep", "text", 0, "sweep good.din --counters 4"),
    ("sweep", "incomplete", 0, "sweep part.ct.h5 --counters 4"),
    ("intrusion", "rows.*.extra_traffic.*.bytes", 0, "intrusion lu n=16 -m generic3-timed --counters 16,64"),
    ("intrusion", "rows", 0, "show intrusion.h5"),
    ("intrusion", "text", 0, "intrusion good.din -m generic3-timed --counters 4"),
    ("intrusion", "incomplete", 0, "intrusion part.ct.h5 -m generic3-timed --counters 4"),
    ("trackers", "rows.*.phases.*.wanted", 0, "trackers lu n=16 -m schulz2002"),
    ("trackers", "rows", 0, "show trackers.h5"),
    ("trackers", "text", 0, "trackers good.din"),
    ("trackers", "incomplete", 0, "trackers part.ct.h5"),
    ("advise", "trials.*.before together structures.*.causes", 0, "advise matmul n=32 -m schulz2002 --layouts 2 --top 2"),
    ("advise", "trials", 0, "advise matmul n=16 -m schulz2002 --layouts 0 --top 1"),
    ("advise", "incomplete", 0, "advise part.ct.h5 --layouts 0"),
    ("compare-runs", "structures.*.misses", 0, "compare a.h5 b.h5"),
    ("compare-runs", "before.text after.incomplete", 0, "compare good.h5 part.h5"),
    ("compare-runs", "functions.*.misses", 0, "compare program.h5 program.h5"),
    ("compare-probes", "curves.*.segments", 0, "compare response.h5 response.h5"),
    ("compare-probes", "findings.*.same", 0, "compare probe.h5 probe.h5"),
    ("fit", "keys.*.as_good comparison.curves", 0, "fit response.h5"),
    ("probe", "results.*.truth tests.*.decisions", 0, "probe levels chase --machine xray-pentium4xeon --arena 1"),
    ("probe", "results.*.reason", 0, "probe response --machine schulz2002 --robust --budget 1e8"),
    ("probe", "tests.*.matrices", 0, "probe cores --machine coherent8 --robust --arena 1"),
    ("probe", "results", 0, "show probe.h5"),
    ("probe-savings", "savings.*.exhaustive", 0, "probe levels --machine schulz2002 --savings 1 --arena 1"),
    ("cpu", "compiled results", 0, "cpu registers"),
    ("validate", "summary", 0, "validate --machines 2 --tests l1"),
    ("validate", "worst.*.replay", 0, "validate --machines 1 --as-published --tests latency"),
    ("validate", "summary", 0, "show validate.h5"),
    ("machine-list", "*.name", 0, "machine list"),
    ("machine-show", "caches tlbs.*.ways", 0, "machine show generic3-timed"),
    ("machine-show", "numa memories.*.node", 0, "machine show numa4"),
    ("machine-show", "numa.ranges numa.otherwise", 0, "machine show ranges.yaml"),
    ("machine-show", "numa.granule", 0, "machine show interleaved.yaml"),
    ("machine-show", "caches.*.slices caches.*.sector", 0, "machine show x86-server"),
    ("machine-check", "monitors", 0, "machine check generic3"),
    ("workload-list", "*.options.*.range", 0, "workload list"),
    ("trace-info", "regions.*.base functions phase_names", 0, "trace info lu.ct.h5"),
    ("trace-info", "text addresses", 0, "trace info good.din"),
    ("trace-info", "failure", 1, "trace info bad.din"),
    ("trace-info", "incomplete", 0, "trace info part.ct.h5"),
    ("trace-info", "records", 0, "trace info one.champsim --format champsim"),
    ("trace-pack", "skipped_lines", 0, "trace convert lu other.ct.h5 n=16"),
    ("trace-pack", "complete", 0, "record -o ls.ct.h5 --count 1000 --report report --json -- ls /usr"),
    ("trace-export", "", 0, "trace export lu n=16 -o lu.din --to din"),
    ("trace-export", "", 0, "trace export lu n=16 -m generic3 -o lu.ramulator2 --to ramulator2 --link L3-memory"),
    ("doctor", "facts.*.what_to_do", 0, "doctor"),
    ("campaign", "rows failures.*.error incomplete", 0, "show bad.campaign/result.h5"),
    ("campaign", "pivot.cells.*.median", 0, "show good.campaign/result.h5 --rows n --columns counters --value error"),
    ("campaign-status", "failures.*.error", 0, "campaign status bad.campaign"),
    ("campaign-status", "name", 0, "campaign status good.campaign"),
    ("check", "budgets.*.value", 0, "check budget.yaml"),
)
TINY = """name: tiny
caches:
  - {name: L1, size: 1 KiB, ways: 2, line: 64, latency: 3, next: L2}
  - {name: L2, size: 8 KiB, ways: 4, line: 64, latency: 12, next: memory}
memory: {name: memory, latency: 80}
"""
NUMA = """name: nodes
cores: 2
numa: {nodes: 2, policy: POLICY}
caches:
  - {name: L1, size: 1 KiB, ways: 2, line: 64, shared_by: 1, next: numa}
memories:
  - {name: M0, node: 0, size: 1 GiB, latency: 80}
  - {name: M1, node: 1, size: 1 GiB, latency: 80}
"""
UNREACHED = {  # properties of real machines and of what is refused or cut short; the same code prints them elsewhere
    "cpu": {"incomplete", "matrices", "median", "name", "note", "processors", "reason", "truth_high"},
    "fit": {"level", "parameter", "same"},
    "intrusion": {"unknown"},
    "probe": {"incomplete", "left_out", "no_events"},
    "sweep": {"slowdown_unknown"},
    "validate": {"incomplete", "left_out"},
}
CHAMPSIM = (0x1000).to_bytes(8, "little") + bytes(8 + 16) + (0x2000).to_bytes(8, "little") + bytes(24)  # an instruction that loads


def at(value, path):
    """What is at "a.*.b": all of them."""
    for step in path:
        if step != "*":
            value = [each[step] for each in value if isinstance(each, dict) and step in each]
        else:
            value = [one for each in value for one in (each.values() if isinstance(each, dict) else each if isinstance(each, list) else [])]
    return value


def spots(value, path=()):
    """Places in a document: keys of objects, with one element of each list."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield (*path, key)
            yield from spots(each, (*path, key))
    elif isinstance(value, list) and value:
        yield from spots(value[0], (*path, 0))


def of(value, path):
    for step in path:
        value = value[step]
    return value


def schema_at(schema, path, whole):
    """The part of a schema that is about a place; and whether the key is one of fixed names."""
    fixed = False
    for step in path:
        while "$ref" in schema:
            schema = whole["$defs"][schema["$ref"].rsplit("/", 1)[-1]]
        if isinstance(step, int):
            schema, fixed = schema["items"], False
        elif step in schema.get("properties", {}):
            fixed = step in schema["required"]
            schema = schema["properties"][step]
        else:
            schema, fixed = schema["additionalProperties"], False
    return schema, fixed


class Schemas(InDirectory):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.directory / "bad.din").write_text("0 1000\n1 2000\n0 3000\nbroken\n")
        (cls.directory / "good.din").write_text("0 1000\n1 2000\n0 3000\n")
        (cls.directory / "tiny.yaml").write_text(TINY)
        (cls.directory / "good.yaml").write_text(
            "machines: [tiny.yaml]\nworkloads: [{run: lu, set: {n: [16, 32]}}]\nmonitors: [none, {set: {counters: [4, 8]}}]\n"
        )
        (cls.directory / "bad.yaml").write_text("machines: [tiny.yaml, {machine: tiny.yaml, set: {cores: 2}}]\nworkloads: [{run: lu, set: {n: 16, processors: 2}}]\n")
        (cls.directory / "budget.yaml").write_text(
            "machine: tiny.yaml\nchecks: [{run: lu n=16, layouts: 1, budgets: [{misses: 1M, level: L1}]}]\n"
        )
        (cls.directory / "interleaved.yaml").write_text(NUMA.replace("POLICY", "interleaved"))
        (cls.directory / "ranges.yaml").write_text(NUMA.replace("POLICY", "fixed, ranges: [{from: 0, to: 0x10000000, memory: M0}], otherwise: M1"))
        (cls.directory / "one.champsim").write_bytes(CHAMPSIM)
        for status, words in FILES:
            call(*words.split(), cwd=cls.directory, status=status)
        cls.told = []
        for schema, parts, status, words in CASES:
            line = words.split()
            report = cls.directory / "report"
            report.unlink(missing_ok=True)
            try:
                out = call(*line, *([] if "--json" in line else ["--json"]), cwd=cls.directory, status=status)
            except AssertionError as error:
                if schema != "cpu" or "frequency cannot be determined" not in str(error):
                    raise
                print(f"{words}: not run: {error}", file=sys.stderr)
                continue
            if "--report" in line:
                out = report.read_text()
            cls.told.append((schema, parts, words, json.loads(out)))

    def test_they_are_schemas(self):
        for name, schema in SCHEMAS.items():
            with self.subTest(name):
                jsonschema.Draft202012Validator.check_schema(schema)
                self.assertEqual(schema["$schema"], "https://json-schema.org/draft/2020-12/schema")
                self.described(name, schema)
                self.assertTrue(schema["title"] and schema["x-commands"])

    def described(self, place, schema):
        """Each part says what it is, has its properties closed or keyed by names, and requires what it names."""
        if "$ref" not in schema:
            self.assertIn("type", schema, place)
        self.assertTrue(schema.get("description"), place)
        if "properties" in schema:
            self.assertIs(schema["additionalProperties"], False, place)
            self.assertLessEqual(set(schema["required"]), set(schema["properties"]), place)
        elif "object" in schema.get("type", ""):
            self.described(place + ".*", schema["additionalProperties"])
        for name, each in {**schema.get("properties", {}), **schema.get("$defs", {})}.items():
            self.described(f"{place}.{name}", each)
        if "items" in schema:
            self.described(place + "[]", schema["items"])

    def test_what_commands_print_keeps_them(self):
        for schema, parts, words, told in self.told:
            with self.subTest(words):
                validator = jsonschema.Draft202012Validator(SCHEMAS[schema])
                self.assertEqual([f"{'/'.join(map(str, error.path))}: {error.message[:300]}" for error in validator.iter_errors(told)][:5], [])
                for part in parts.split():
                    self.assertTrue(at([told], part.split(".")), f"the case does not reach {part}")

    def told_schemas(self):
        """Those that a case was run for: all, but where the machine lacks what the case needs."""
        return {name: schema for name, schema in SCHEMAS.items() if any(told[0] == name for told in self.told)}

    def test_every_property_is_reached(self):
        self.assertLessEqual(set(SCHEMAS) - set(self.told_schemas()), {"cpu"})
        for name, schema in self.told_schemas().items():
            seen = set()
            for path in (path for told in self.told if told[0] == name for path in all_spots(told[3])):
                seen.add(path)
            names = {step for path in seen for step in path}
            wanted = property_names(schema)
            with self.subTest(name):
                self.assertLessEqual(wanted - names, UNREACHED.get(name, set()))
                if name != "cpu":  # what this processor answers is not known
                    self.assertEqual(wanted - names, UNREACHED.get(name, set()))

    def test_changed_documents_are_refused(self):
        for name, schema in self.told_schemas().items():
            validator = jsonschema.Draft202012Validator(schema)
            told = next(told[3] for told in self.told if told[0] == name)
            tried = 0
            for path in list(spots(told))[:150]:
                part, required = schema_at(schema, path, schema)
                for change in ("remove", "type", "add"):
                    changed = copy.deepcopy(told)
                    holder = of(changed, path[:-1])
                    if change == "remove":
                        if not required:
                            continue
                        del holder[path[-1]]
                    elif change == "type":
                        value = holder[path[-1]]
                        if "string" in part.get("type", ()) and not isinstance(value, str):
                            continue
                        holder[path[-1]] = {"no": "value"} if isinstance(value, str) else "text"
                    else:
                        if schema_at(schema, path[:-1], schema)[0].get("additionalProperties", True) is not False:
                            continue
                        holder["no_such_key"] = 1
                    tried += 1
                    self.assertFalse(validator.is_valid(changed), f"{name}: {change} {'/'.join(map(str, path))}")
            self.assertGreater(tried, 2, name)

    def test_every_command_with_json_has_one(self):
        stated = {command for schema in SCHEMAS.values() for command in schema["x-commands"]}
        found = set()
        for command in commands():
            if re.search(r"^ +(-\S+,)*--json\b", call(*command, "--help"), re.M):
                found.add(" ".join(command))
        self.assertGreater(len(found), 15)
        self.assertEqual(found, stated)
        tried = {" ".join(words.split()[: 2 if words.split()[0] in ("machine", "workload", "trace", "campaign") else 1]) + " " + schema for schema, _, words, _ in self.told}
        self.assertEqual({f"{command} {name}" for name, schema in self.told_schemas().items() for command in schema["x-commands"]}, tried)


def commands():
    """All commands, as lists of words, by their help."""

    def below(words):
        said = call(*words, "--help").split("\nCommands:\n")
        for name in re.findall(r"^  ([a-z0-9-]+)  ", said[1].split("\n\n")[0], re.M) if len(said) > 1 else []:
            yield [*words, name]
            yield from below([*words, name])

    return list(below([]))


def all_spots(value, path=()):
    if isinstance(value, dict):
        for key, each in value.items():
            yield (*path, key)
            yield from all_spots(each, (*path, key))
    elif isinstance(value, list):
        for each in value:
            yield from all_spots(each, path)


def property_names(schema):
    names = set(schema.get("properties", {}))
    for each in (*schema.get("properties", {}).values(), *schema.get("$defs", {}).values(), schema.get("items"), schema.get("additionalProperties")):
        if isinstance(each, dict):
            names |= property_names(each)
    return names


if __name__ == "__main__":
    unittest.main()
