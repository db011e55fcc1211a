# SPDX-License-Identifier: BSD-3-Clause
"""Files in pandas and xarray, and the copies of them that reports hold: each group of data opens with labelled axes, by value or name, and the
numbers and texts that h5py reads; all columns have axes, units and names; the verifier of docs/format.md finds damage; the example runs. Usage: python_files.py CACHETALLY. Exit status 77: skipped, with the reason."""
import base64
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

try:
    import h5netcdf  # noqa: F401: xarray's engine
    import h5py
    import numpy as np
    import pandas as pd
    import xarray as xr
    import xxhash  # noqa: F401: of the verifier
except ImportError as error:
    print(f"skipped: {error} (Debian: python3-h5py python3-pandas python3-xarray python3-h5netcdf python3-xxhash)")
    sys.exit(77)

program = pathlib.Path(sys.argv[1]).resolve()
root = pathlib.Path(__file__).resolve().parents[2]
example = root / "examples/explore_result.py"

RESULTS = {
    "run.h5": "run lu n=32 --machine schulz2002",
    "mapped.h5": "run matmul n=16 --machine generic3",
    "coherent.h5": "run radix keys=500 processors=8 --machine coherent8",
    "sweep.h5": "sweep lu n=32 --machine schulz2002 --counters 16,64 --granularity 1,2,4",
    "windows.h5": "sweep lu n=16 --machine schulz2002 --counters 16,64 --granularity 1,dynamic:4",
    "causes.h5": "run lu n=16 --machine schulz2002 --causes --reuse",
    "functions.h5": "run lu n=16 --machine schulz2002 --monitor link=core-L1,functions=on",
    "probe.h5": "probe levels chase --machine xray-pentium4xeon --arena 4",
    "intrusion.h5": "intrusion lu n=16 -m generic3-timed --counters 16,64 --granularity 1,4",
    "large.h5": "run gups updates=150000 --machine schulz2002",
}
OTHERS = {"trace.ct.h5": "trace convert lu {} n=16", "validate.h5": "validate --machines 1 --tests l1 -o {}"}  # without groups that say what is drawn


def data_groups(file):
    """The groups that say what is drawn over which axes."""
    found = []
    file.visititems(lambda name, each: found.append(name) if "signal" in each.attrs else None)
    return found


def check_group(path, name, group):
    with xr.open_dataset(path, group=name, engine="h5netcdf") as opened:
        axes = [str(axis) for axis in group.attrs["axes"]]
        signal = opened[str(group.attrs["signal"])]
        for axis, dimension in zip(axes, signal.dims):
            assert dimension in opened.coords, f"{path} {name}: no labels for {dimension}"
            expected = "." if opened[dimension].dtype.kind == "O" else dimension  # NeXus has axes of numbers alone
            assert axis == expected, f"{path} {name}: {signal.dims}, not {axes}"
        check_columns(path, name, group, opened)


def check_columns(path, name, group, opened):
    """Texts are str; a label finds its own column of a table, by the value or name that h5py reads."""
    for column, data in group.items():
        if not isinstance(data, h5py.Dataset):
            continue
        text = h5py.check_string_dtype(data.dtype)
        shown = data.asstr()[:] if text else data[:]
        read = opened[column].values
        assert not text or all(type(each) is str for each in read), f"{path} {name}/{column}: {read.dtype}"
        np.testing.assert_array_equal(read.astype(shown.dtype), shown, f"{path} {name}/{column}")
        if data.ndim != 2:
            continue
        for dimension, axis in zip(opened[column].dims, data.dims):
            labels = axis[0].asstr()[:] if h5py.check_string_dtype(axis[0].dtype) else axis[0][:]
            for i, label in list(enumerate(labels))[:20]:
                mine = data[i] if dimension == opened[column].dims[0] else data[:, i]
                np.testing.assert_array_equal(opened[column].sel({dimension: label}).values, mine, f"{path} {name}/{column} {label}")


def check_labels(path, file, axes=True):
    """All columns say what they are and in what units; all numbers have a dimension scale for each of their dimensions."""

    def see(name, data):
        if not isinstance(data, h5py.Dataset):
            return
        number = data.dtype.kind in "iuf"
        for word in ("long_name", "units") if number else ("long_name",):
            assert type(data.attrs.get(word)) is str and data.attrs[word], f"{path} {name}: no {word}"
        if not number or name == "provenance/machine_file" or not axes:
            return
        for dimension in () if h5py.h5ds.is_scale(data.id) else data.dims:
            assert len(dimension) > 0, f"{path} {name}: a dimension without a scale"
            assert dimension[0].parent == data.parent, f"{path} {name}: a scale of another group"

    file.visititems(see)


def copy_in_report(path):
    """The file that the report of a result holds."""
    page = path.with_suffix(".html")
    subprocess.run([program, "report", path, "-o", page], check=True, stdout=subprocess.DEVNULL)
    held = re.search(r'<script id="cachetally-result"[^>]*>([^<]+)</script>', page.read_text())
    copy = path.with_name(f"report-{path.name}")
    copy.write_bytes(base64.b64decode(held.group(1)))
    return copy


def check_file(path):
    with h5py.File(path) as file:
        groups = data_groups(file)
        assert groups, f"{path} has no data"
        for group in groups:
            check_group(path, group, file[group])
        check_labels(path, file)
        print(path.name, len(groups), "groups", file.attrs.get("reduced", ""))
        return "reduced" in file.attrs


def check_sweep(directory):
    """Cells of matrices by the value of their axes; the rows tell what is right."""
    for name in ("sweep.h5", "windows.h5"):
        path = f"{directory}/{name}"
        with h5py.File(path) as file, xr.open_dataset(path, group="sweep/matrices/fifo", engine="h5netcdf") as matrix:
            rows = file["sweep/rows"]
            for granularity, counters, swapouts in zip(rows["granularity"].asstr()[:], rows["counters"][:], rows["swapouts"][:]):
                label = granularity if name == "windows.h5" else int(granularity)
                assert int(matrix["swapouts"].sel(granularity=label, counters=counters)) == swapouts, (path, granularity)
            for absent in (0, 3):
                try:
                    matrix["swapouts"].sel(granularity=absent)
                except KeyError:
                    continue
                raise AssertionError(f"{path}: an answer for granularity {absent}")


def check_grid(path, level="L1"):
    """.sel() by phase and by addresses; the columns tell what is right."""
    with h5py.File(path) as file, xr.open_dataset(path, group=f"combined/{level}/grid", engine="h5netcdf") as grid:
        lines = file[f"combined/{level}"]
        phase, address = lines["phase"][:], lines["address"][:]
        units = int(grid.attrs["units"])
        block = units * int(lines.attrs["line_bytes"])
        middle, end = np.quantile(address // np.uint64(block), (0.3, 0.6)).astype(np.uint64) * np.uint64(block)
        for what in ("accesses", "misses"):
            for each in np.unique(phase):
                found = grid[what].sel(phase=each, address=slice(middle, end)).sum()
                chosen = (phase == each) & (address >= middle) & (address < end + np.uint64(block))
                assert float(found) == lines[what][:][chosen].sum(), (path, what, each)
        return units


def check_names(directory):
    """Structures and functions by name."""
    path = f"{directory}/causes.h5"
    with h5py.File(path) as file, xr.open_dataset(path, group="structures/levels/L1", engine="h5netcdf") as level:
        names = list(file["structures/name"].asstr()[:])
        assert float(level["misses"].sel(name="A")) == file["structures/levels/L1/misses"][names.index("A")]
        table = file["causes/L1/misses"]
        with xr.open_dataset(path, group="causes/L1/misses", engine="h5netcdf") as causes:
            of_a = table["structure"][:] == names.index("A")
            assert int(causes["first_use"].sel(name="A").sum()) == table["first_use"][:][of_a].sum() > 0
    path = f"{directory}/functions.h5"
    with h5py.File(path) as file, xr.open_dataset(path, group="monitors/core-L1/functions", engine="h5netcdf") as functions:
        names = list(file["functions/name"].asstr()[:])
        for index, events in zip(file["monitors/core-L1/functions/function"][:], file["monitors/core-L1/functions/events"][:]):
            if index < len(names):
                assert int(functions["events"].sel(name=names[index])) == events > 0


def check_verifier(path):
    """The verifier that docs/format.md prints, on a file, on its copies with other bytes, and on one that h5py changed."""
    code = next(code for code in re.findall(r"```python\n(.*?)```", (root / "docs/format.md").read_text(), re.S) if "def verify" in code)
    scope = {"__name__": "docs"}
    exec(code, scope)
    scope["verify"](path)
    whole = path.read_bytes()
    copy = path.with_name("copy.h5")

    def is_refused():
        try:
            scope["verify"](copy)
        except (AssertionError, struct.error):
            return subprocess.run([program, "show", copy], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 1
        return False

    for at in np.linspace(0, len(whole) - 1, 25).astype(int):
        for other in (whole[:at] + bytes([whole[at] ^ 64]) + whole[at + 1:], whole[:at] + b"\0" + whole[at:], whole[:at] + whole[at + 1:], whole[:at]):
            copy.write_bytes(other)
            assert is_refused(), f"{path} changed at {at} is not refused"
    copy.write_bytes(whole)
    with h5py.File(copy, "r+") as file:
        file.attrs["note"] = "changed"
    assert is_refused(), f"{path} without digests is not refused"
    shown = [subprocess.run([program, "show", each, *trust], check=True, capture_output=True).stdout for each, trust in ((path, []), (copy, ["--trust"]))]
    assert shown[0] == shown[1], f"{path} is shown otherwise on trust"
    xr.open_dataset(path).close()  # with whatever engine xarray takes


def check_frame(path):
    """Phases add up to the run, in pandas."""
    with h5py.File(path) as file:
        lines, level = file["combined/L1"], file["levels/L1"]
        frame = pd.DataFrame({column: lines[column][:] for column in ("phase", "address", "accesses", "misses")})
        by_phase = frame.groupby("phase")["misses"].sum()
        counted = sum(level[name][:] for name in ("load_misses", "store_misses", "fetch_misses"))
        for phase, misses in by_phase.items():
            assert misses == counted[phase], f"phase {phase}: {misses} by line, {counted[phase]} counted"
        assert by_phase.sum() == counted.sum() > 0


def causes_of(lines, sets, ways):
    """Misses by first use, capacity and conflict in one level of LRU: sets as lists, and one stack of all lines."""
    held, stack, counts = [[] for _ in range(sets)], [], [0, 0, 0]
    for line in lines:
        own = held[line % sets]
        if line not in own:
            distance = stack.index(line) if line in stack else None
            counts[0 if distance is None else 1 if distance >= sets * ways else 2] += 1
        for order in (own, stack):
            if line in order:
                order.remove(line)
            order.insert(0, line)
        del own[ways:]
    return counts


def check_causes(directory):
    """/causes of random programs is what stack distances say."""
    random = np.random.default_rng(11)
    for sets, ways in ((1, 4), (2, 1), (8, 2), (3, 4), (16, 1)):
        lines = random.zipf(1.3, 4000) % (4 * sets * ways)
        pathlib.Path(directory, "t.din").write_text("".join(f"0 {line * 64:x}\n" for line in lines))
        pathlib.Path(directory, "m.yaml").write_text(
            f"name: m\ncaches:\n  - {{name: L1, size: {64 * sets * ways}, ways: {ways}, line: 64, next: memory}}\nmemory: {{name: memory}}\n")
        subprocess.run([program, "replay", "t.din", "-m", "m.yaml", "--monitor", "none", "--causes", "-o", "c.h5", "--force"],
                       check=True, cwd=directory, stdout=subprocess.DEVNULL)
        with h5py.File(pathlib.Path(directory, "c.h5")) as file:
            misses = file["causes/L1/misses"]
            found = [int(misses[name][:].sum()) for name in ("first_use", "capacity", "conflict", "invalidated")]
        assert found == [*causes_of(lines.tolist(), sets, ways), 0], (sets, ways, found)


with tempfile.TemporaryDirectory() as directory:
    check_causes(directory)
    for name, words in RESULTS.items():
        path = pathlib.Path(directory) / name
        subprocess.run([program, *words.split(), "-o", path], check=True, stdout=subprocess.DEVNULL)
        check_file(path)
        reduced = check_file(copy_in_report(path))
        assert reduced == (name == "large.h5"), f"the report of {name} holds {'a reduced copy' if reduced else 'the file itself'}"
    for name, words in OTHERS.items():
        path = pathlib.Path(directory) / name
        subprocess.run([program, *words.format(path).split()], check=True, stdout=subprocess.DEVNULL)
        with h5py.File(path) as file:
            check_labels(path, file, axes=name != "trace.ct.h5")
        xr.open_dataset(path).close()
    check_frame(f"{directory}/run.h5")
    check_sweep(directory)
    assert check_grid(f"{directory}/run.h5") == 1 < check_grid(f"{directory}/large.h5")
    check_names(directory)
    for name in ("run.h5", "sweep.h5"):
        check_verifier(pathlib.Path(directory) / name)
    with xr.open_dataset(f"{directory}/intrusion.h5", group="intrusion/rows", engine="h5netcdf") as rows:
        assert rows["extra_events"].dims == ("row", "traffic_link"), rows["extra_events"].dims
    told = subprocess.run([sys.executable, example, "run.h5"], check=True, cwd=directory, capture_output=True, text=True).stdout
    for text in ("phase 4: A with", "longest phase:", "misses.png"):
        assert text in told, f"the example does not say '{text}':\n{told}"
    reader, writer = os.pipe()
    os.close(reader)
    unread = subprocess.run([sys.executable, example, "run.h5"], cwd=directory, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert unread.stderr == "", f"the example complains where nobody reads it: {unread.stderr}"
print("the example runs")
