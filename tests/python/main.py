# SPDX-License-Identifier: BSD-3-Clause
"""Runs tests of this folder: main.py CACHETALLY MODULE [-v] [TEST...]. Exit status 77: skipped, with the reason."""
import os
import pathlib
import sys
import unittest

here = pathlib.Path(__file__).resolve().parent
os.environ["CACHETALLY"] = str(pathlib.Path(sys.argv[1]).resolve())
sys.path[:0] = [str(here.parents[1] / "python"), str(here)]
sys.dont_write_bytecode = True
try:
    import h5py  # noqa: F401
    import jsonschema  # noqa: F401
    import pandas  # noqa: F401
    import xarray  # noqa: F401
    import xxhash  # noqa: F401
except ImportError as error:
    print(f"skipped: {error} (Debian: python3-h5py python3-jsonschema python3-pandas python3-xarray python3-xxhash)")
    sys.exit(77)
unittest.main(module=sys.argv[2], argv=[sys.argv[2], *sys.argv[3:]])
