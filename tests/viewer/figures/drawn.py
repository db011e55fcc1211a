# SPDX-License-Identifier: BSD-3-Clause
# What figures draw beside what the file has, read with h5py and numpy alone. Run after the script of `cachetally figure`, without its last
# line: argv is a directory, and the program that has the core compute what is painted (data/main.cpp). Each function without parameters in the
# parts is a case; drawn_main.py runs them.
import os
import subprocess
import traceback
import warnings

script = set(globals())


def result_of(name, groups, attributes=(), **root):
    """A file with the columns of its groups; an attribute is a group, a name and a value."""
    path = f"{sys.argv[1]}/{name}{len(os.listdir(sys.argv[1]))}.h5"
    with h5py.File(path, "w") as file:
        file.attrs.update({"format": "cachetally result", **root})
        for group, columns in groups.items():
            for column, values in columns.items():
                texts = {"dtype": h5py.string_dtype()} if isinstance(values[0], str) else {}
                file.create_dataset(f"{group}/{column}", data=values, **texts)
        for group, attribute, value in attributes:
            file[group].attrs[attribute] = value
    return Result(path)


def lines_file(name, address, phase, accesses, misses=None, line=64, program="lu", **root):
    group = {"address": np.array(address, np.uint64), "phase": np.array(phase, np.uint32), "accesses": np.array(accesses, float),
             "misses": np.zeros(len(address)) if misses is None else np.array(misses, float)}
    return result_of(name, {"combined/L1": group, "input": {"settings": ["n=8"]}, "machine": {"yaml": ["-"]}},
                     [("combined", "names", ["L1"]), ("combined/L1", "line_bytes", line), ("input", "name", program), ("machine", "name", "small")], **root)


def wanted(**given):
    return argparse.Namespace(**{"level": "", "structure": "", "what": "accesses", "phases": None, "log": False, "linear": False, "columns": 2,
                                 "metric": "", "eviction": "", "test": "", "variant": "", "beside": "", "more": [], "x": "", "y": "", "value": "",
                                 "facet": "", "lines": "", "where": "", "standing": [], "workload": [], "link": "", "settings": "", **given})


def core(kind, result, options):
    """The file that the core makes for a figure, or what it says of why it does not."""
    path = f"{sys.argv[1]}/data{len(os.listdir(sys.argv[1]))}.h5"
    phases = [f"--phases={','.join(map(str, options.phases))}"] if options.phases else []
    given = [f"--{name}={getattr(options, name)}" for name in ("level", "structure", "what", "columns") if getattr(options, name)]
    flags = [f"--{name}" for name in ("log", "linear") if getattr(options, name)]
    run = subprocess.run([sys.argv[2], kind, result.path, path, *phases, *given, *flags], capture_output=True, text=True)
    if run.returncode != 0:
        raise Refused(run.stderr)
    return run.stdout.strip() if kind == "numbers" else path


def painted(kind):
    draw = KINDS[kind]
    return lambda result, options: draw(result, argparse.Namespace(**{**vars(options), "data": core(kind, result, options)}))


histogram, small_multiples, heat = map(painted, ("histogram", "phases", "heat"))


def texts_of(figure):
    return [each.get_text() for each in figure.findobj(matplotlib.text.Text) if each.get_text() and each.get_visible()]


def fronts_file(name, workloads, links, errors, machine="", **columns):
    """A cell per error in each workload and link, of granularities 1, 2, ...; traffic falls as the error rises."""
    places = [(workload, link) for workload in workloads for link in links]
    cells = [(workload, link, i, error) for workload, link in places for i, error in enumerate(errors)]
    rows = {"workload": [each[0] for each in cells], "link": [each[1] for each in cells], "settings": [""] * len(cells), "eviction": ["fifo"] * len(cells),
            "granularity": [str(each[2] + 1) for each in cells], "counters": np.full(len(cells), 16, np.uint32), "error": np.array([each[3] for each in cells]),
            "bytes_per_event": np.array([1 / (1 + each[2]) for each in cells]), **columns}
    ran = {"machine": {"yaml": ["-"]}} if machine else {}
    return result_of(name, {"sweep/rows": rows, **ran}, [("sweep", "link", ",".join(links)), ("sweep", "tolerance", 0.05), *[(each, "name", machine) for each in ran]])


def trackers_file(name, errors, traffic):
    count = len(errors)
    return result_of(name, {"trackers/rows": {"tracker": [f"t{i}" for i in range(count)], "error": np.array(errors), "bytes_per_event": np.array(traffic),
                                              "bits": np.full(count, 99, np.uint64), "area": np.full(count, 9, np.uint64)}, "input": {"settings": ["n=8"]}},
                     [("trackers", "link", "core-L1"), ("input", "name", "lu")])


def line_named(axes, begin):
    return next(each for each in axes.lines if each.get_label().startswith(begin))


def titles_of(figure):
    """Titles of panels by row; None where there is no panel."""
    rows = {}
    for axes in figure.axes:
        rows.setdefault(axes.get_subplotspec().rowspan.start, []).append(axes.get_title(loc="left").replace("\n", " ") if axes.get_visible() else None)
    return list(rows.values())


def name_of(result):
    return result.path.rsplit("/", 1)[-1]


def settings_file(name, settings):
    """Of each settings two cells; the last one's remain."""
    count = 2 * len(settings)
    return fronts_file(name, ["lu n=64 with a long name of many words"], ["core-L1"], [i / count for i in range(count)], settings=[each for each in settings for _ in range(2)],
                       remains=np.array([i >= count - 2 for i in range(count)], np.uint8), bytes_per_event=np.linspace(1, 2, count))


def with_structures(file, names, base, size):
    file.file.close()
    with h5py.File(file.path, "r+") as h5:
        for name, column in (("base", base), ("bytes", size)):
            h5[f"structures/{name}"] = np.array([*column, 0], np.uint64)
        h5["structures/element_bytes"] = np.full(len(names) + 1, 8, np.uint32)
        h5["structures/name"] = np.array([each.encode() for each in [*names, "elsewhere"]])
    return Result(file.path)


def refusal(call, *arguments):
    try:
        return f"gave {call(*arguments)}"
    except Refused as error:
        return str(error)


def sweep_file(eviction, granularity, counters, error, swapouts):
    rows = {"eviction": eviction, "granularity": granularity, "counters": np.array(counters, np.uint32), "error": np.array(error, float),
            "swapouts": np.array(swapouts, np.uint64), "bytes_per_event": np.array(swapouts, float)}
    return result_of("sweep", {"sweep/rows": rows, "input": {"settings": ["n=8"]}, "machine": {"yaml": ["-"]}},
                     [("sweep", "link", "core-L1"), ("input", "name", "lu"), ("machine", "name", "small")])


def many_cells(seed, count):
    random = np.random.default_rng(seed)
    eviction = random.choice(["fifo", "lru", "clock"], count)
    return [str(each) for each in eviction], [str(each) for each in random.integers(1, 7, count)], \
        random.choice([16, 32, 64], count), random.integers(0, 12, count) / 64, random.integers(1, 40, count)
