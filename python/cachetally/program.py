# SPDX-License-Identifier: BSD-3-Clause
"""Runs of the program `cachetally`, whose result files are loaded."""
import os
import pathlib
import shutil
import subprocess
import tempfile
from typing import Any, Sequence

import pandas as pd

from .errors import CachetallyError
from .result import Result, load

_REPEATED = ("monitor", "listener", "vary", "type", "element", "raw_event")  # options that are given once per value; others take lists with commas


def run(
    workload: str | Sequence[str],
    *options: str,
    machine: str = "generic3",
    monitor: str | Sequence[str] = (),
    program: str | os.PathLike[str] | None = None,
    **flags: Any,
) -> Result:
    """`cachetally run` (docs/workloads.md, docs/programs.md).

    workload: a kernel, as "lu", or a program and its arguments as a list, as ["ls", "/usr"].
    options: of the kernel, as "n=128".
    machine: a built-in machine or a machine file.
    monitor: "link=core-L1D,counters=64", several, "all" or "none" (docs/monitors.md).
    program: the program cachetally; by default what the environment's CACHETALLY names, or the first on PATH.
    flags: all other options by their name: causes=True is --causes, no_exact=True is --no-exact, cores=4 is --cores 4. With output="FILE.h5" the
    file is kept.

    Raises CachetallyError with the program's own message where it fails.
    """
    return _result("run", workload, options, {"machine": machine, "monitor": monitor, **flags}, program)


def replay(
    trace: str | os.PathLike[str],
    *,
    machine: str = "generic3",
    monitor: str | Sequence[str] = (),
    program: str | os.PathLike[str] | None = None,
    **flags: Any,
) -> Result:
    """`cachetally replay` (docs/traces.md): a recorded trace through a machine. Parameters as of run()."""
    return _result("replay", os.fspath(trace), (), {"machine": machine, "monitor": monitor, **flags}, program)


def sweep(
    workload: str | Sequence[str],
    *options: str,
    machine: str = "generic3",
    program: str | os.PathLike[str] | None = None,
    **flags: Any,
) -> pd.DataFrame:
    """`cachetally sweep` (docs/monitors.md, "Sweeps"): its cells, as Result.sweep() gives them.

    Parameters as of run(). Lists become lists of the command line: counters=[16, 64] is --counters 16,64.
    """
    if "folder" in flags:
        raise CachetallyError("sweep() runs here; a sweep with folder= is a campaign: run 'cachetally sweep --folder' and load() its FOLDER/result.h5")
    with _result("sweep", workload, options, {"machine": machine, **flags}, program) as result:
        return result.sweep()


def find_program(program: str | os.PathLike[str] | None = None) -> str:
    """Where the program is: as named, or as CACHETALLY in the environment names it, or on PATH. Raises CachetallyError where it is not there."""
    named = os.fspath(program) if program is not None else os.environ.get("CACHETALLY") or "cachetally"
    found = shutil.which(named)
    if found is None:
        how = "program=" if program is not None else "CACHETALLY" if os.environ.get("CACHETALLY") else "PATH"
        raise CachetallyError(f"there is no program '{named}' ({how}); install the package cachetally, or name it by program= or the environment's CACHETALLY")
    return found


def _result(
    command: str, workload: str | Sequence[str], options: Sequence[str], flags: dict[str, Any], program: str | os.PathLike[str] | None
) -> Result:
    words = [find_program(program), command]
    kept = flags.pop("output", None)
    for name, value in flags.items():
        words += _option(name, value)
    with tempfile.TemporaryDirectory(prefix="cachetally-") as directory:
        path = os.fspath(kept) if kept is not None else str(pathlib.Path(directory, "result.h5"))
        words += ["--output", path]
        words += [workload, *options] if isinstance(workload, str) else ["--", *workload, *options]
        finished = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if finished.returncode != 0:
            said = finished.stderr.decode(errors="replace").strip()
            raise CachetallyError(said or f"{' '.join(words)}: ended with status {finished.returncode} and said nothing")
        return load(path)  # the open file outlives its name


def _option(name: str, value: Any) -> list[str]:
    option = "--" + name.replace("_", "-")
    if value is None or value is False:
        return []
    if value is True:
        return [option]
    if isinstance(value, (str, os.PathLike)) or not isinstance(value, Sequence):
        return [option, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    if name in _REPEATED:
        return [word for each in value for word in (option, str(each))]
    if not value:
        raise CachetallyError(f"{option}: the list is empty; give it a value, or leave {name} out")
    return [option, ",".join(str(each) for each in value)]
