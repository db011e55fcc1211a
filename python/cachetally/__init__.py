# SPDX-License-Identifier: BSD-3-Clause
"""Results of cachetally, a simulator of hardware cache monitors, as pandas frames; and its runs from Python (docs/python.md)."""
from .errors import CachetallyError
from .program import find_program, replay, run, sweep
from .result import Result, load

__all__ = ["CachetallyError", "Result", "find_program", "load", "replay", "run", "sweep"]
