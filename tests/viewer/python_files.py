"""Result files in pandas and xarray, and the copies of them that reports hold: each group of data opens with labelled axes and the
numbers that h5py reads, all numbers have axes, and the example runs. Usage: python_files.py CACHETALLY. Exit status 77: skipped, with the reason."""
import base64
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import h5netcdf  # noqa: F401: xarray's engine
    import h5py
    import numpy as np
    import pandas as pd
    import xarray as xr
except ImportError as error:
    print(f"skipped: {error} (Debian: python3-h5py python3-pandas python3-xarray python3-h5netcdf)")
    sys.exit(77)

program = pathlib.Path(sys.argv[1]).resolve()
example = pathlib.Path(__file__).resolve().parents[2] / "examples/explore_result.py"

RESULTS = {
    "run.h5": "run lu n=32 --machine schulz2002",
    "mapped.h5": "run matmul n=16 --machine generic3",
    "coherent.h5": "run radix keys=500 processors=8 --machine coherent8",
    "sweep.h5": "sweep lu n=32 --machine schulz2002 --counters 16,64 --granularity 1,2,4",
    "probe.h5": "probe levels chase --on xray-pentium4xeon --arena 4",
    "intrusion.h5": "intrusion lu n=16 -m generic3-timed --counters 16,64 --granularity 1,4",
    "large.h5": "run gups updates=300000 --machine schulz2002",
}


def data_groups(file):
    """The groups that say what is drawn over which axes."""
    found = []
    file.visititems(lambda name, each: found.append(name) if "signal" in each.attrs else None)
    return found


def check_group(path, name, group):
    with xr.open_dataset(path, group=name, engine="h5netcdf") as opened:
        axes = [str(axis) for axis in group.attrs["axes"]]
        signal = opened[str(group.attrs["signal"])]
        assert list(signal.dims) == axes, f"{path} {name}: {signal.dims}, not {axes}"
        for axis in axes:
            assert axis in opened.coords, f"{path} {name}: no labels for {axis}"
        for column, data in group.items():
            if isinstance(data, h5py.Dataset):
                shown = data.asstr()[:] if h5py.check_string_dtype(data.dtype) else data[:]
                read = opened[column].values
                read = np.char.decode(read.astype(bytes)) if read.dtype.kind == "S" else read
                np.testing.assert_array_equal(read.astype(shown.dtype), shown, f"{path} {name}/{column}")


def check_labels(path, file):
    """All numbers have a dimension scale for each of their dimensions."""

    def see(name, data):
        if not isinstance(data, h5py.Dataset) or data.dtype.kind not in "iuf" or name == "provenance/machine_file":
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
            found = [int(misses[name][:].sum()) for name in ("first_use", "capacity", "conflict", "taken_away")]
        assert found == [*causes_of(lines.tolist(), sets, ways), 0], (sets, ways, found)


with tempfile.TemporaryDirectory() as directory:
    check_causes(directory)
    for name, words in RESULTS.items():
        path = pathlib.Path(directory) / name
        subprocess.run([program, *words.split(), "-o", path], check=True, stdout=subprocess.DEVNULL)
        check_file(path)
        reduced = check_file(copy_in_report(path))
        assert reduced == (name == "large.h5"), f"the report of {name} holds {'a reduced copy' if reduced else 'the file itself'}"
    check_frame(f"{directory}/run.h5")
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
