# SPDX-License-Identifier: BSD-3-Clause
"""What tests of campaigns share: campaign files, the program, and a comparison of results by h5py alone."""
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

try:
    import h5py
    import numpy
except ImportError as missing:
    print(f"skipped: there is no {missing.name} (Debian: python3-h5py)")
    sys.exit(77)


def grid_text(name, sizes, seeds, counters):
    """Machines * sizes * seeds groups of points, of as many points as there are numbers of counters."""
    return f"""name: {name}
machines:
  - machine: generic3
    set: {{L2.size: [256 KiB, 512 KiB]}}
workloads:
  - run: lu
    set: {{n: [{', '.join(map(str, sizes))}]}}
monitors:
  - set: {{counters: [{', '.join(map(str, counters))}]}}
seeds: 1-{seeds}
"""


class Campaigns:
    """The program under test."""

    def __init__(self, program):
        self.program = str(pathlib.Path(program).resolve())

    def __call__(self, *words, ok=(0,), **options):
        done = self.run(*words, **options)
        assert done.returncode in ok, f"campaign {' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        return done.stdout

    def run(self, *words, **options):
        return subprocess.run([self.program, "campaign", *map(str, words)], capture_output=True, text=True, check=False, timeout=120, **options)

    def begin(self, *words, **options):
        """A process group of its own, so that all of it can be ended."""
        return subprocess.Popen([self.program, "campaign", *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                start_new_session=True, **options)


def bundles(folder):
    """Finished ones: name to what a file written again would change."""
    found = {}
    for path in sorted(pathlib.Path(folder, "bundles").glob("*.h5")):
        with contextlib.suppress(FileNotFoundError):
            status = path.stat()
            found[path.name] = (status.st_ino, status.st_mtime_ns)
    return found


def is_complete(path):
    try:
        with h5py.File(path, "r") as file:
            return bool(file.attrs["complete"])
    except (OSError, KeyError):
        return False


def has_failures(bundle):
    """Whether points of a finished bundle are to be computed again."""
    with h5py.File(bundle, "r") as file:
        return len(file["failures/item"]) != 0


def wait_for(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.05)


def plain(value, file):
    """References as the names of what they lead to."""
    if isinstance(value, h5py.h5r.Reference):
        return file[value].name
    if isinstance(value, (list, tuple, numpy.ndarray)):
        return [plain(each, file) for each in value]
    return value


def described(value, file):
    """All that a dataset or an attribute holds: type, shape, bytes."""
    array = numpy.asarray(value)
    return (str(array.dtype), array.shape, plain(array.tolist(), file) if array.dtype.hasobject else array.tobytes())


def contents(path):
    """Every object and attribute outside /provenance."""
    found = {}

    def look(name, thing):
        if name == "provenance" or name.startswith("provenance/"):
            return
        if isinstance(thing, h5py.Dataset):
            found[name] = (thing.id.get_type().encode(), thing.chunks, thing.compression, described(thing[()], thing.file))
        else:
            found[name] = "group"
        for key in thing.attrs:
            found[f"{name}@{key}"] = (thing.attrs.get_id(key).get_type().encode(), described(thing.attrs[key], thing.file))

    with h5py.File(path, "r") as file:
        look("", file)
        file.visititems(look)
    return found


def difference(one, other):
    """The first difference of two result files outside /provenance; nothing where there is none."""
    left, right = contents(one), contents(other)
    for name in sorted(left.keys() | right.keys()):
        if left.get(name) != right.get(name):
            return f"{name} of {one} and {other}: {str(left.get(name))[:300]} and {str(right.get(name))[:300]}"
    return None


def require_equal(one, other):
    found = difference(one, other)
    assert found is None, found


def kill(process_or_id, how=signal.SIGKILL):
    with contextlib.suppress(ProcessLookupError):
        os.kill(getattr(process_or_id, "pid", process_or_id), how)


def children(process):
    try:
        return [int(each) for each in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []
