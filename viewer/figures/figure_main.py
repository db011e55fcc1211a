# SPDX-License-Identifier: BSD-3-Clause
"""The last part of figure.py: the command line. The tool runs the parts as one script, in the order of figure.cpp."""


KINDS = {"histogram": histogram, "phases": small_multiples, "heat": heat, "sweep": sweep, "front": front, "campaign": campaign, "curves": curves, "intrusion": intrusion, "reuse": reuse}


def main():
    parser = argparse.ArgumentParser(prog="cachetally figure", description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("file")
    parser.add_argument("more", nargs="*")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--format")
    parser.add_argument("--level", default="")
    parser.add_argument("--what", choices=COUNTS)
    parser.add_argument("--structure", default="")
    parser.add_argument("--phases")  # numbers
    parser.add_argument("--data")  # of counts over addresses: what figure_data.cpp wrote
    parser.add_argument("--metric", default="")
    parser.add_argument("--eviction", default="")
    parser.add_argument("--workload", action="append", default=[])
    parser.add_argument("--link", default="")
    parser.add_argument("--settings", default="")
    parser.add_argument("--test", default="")
    parser.add_argument("--variant", default="")
    parser.add_argument("--beside", default="")
    parser.add_argument("--standing", action="append", default=[])  # of fronts: per file, as standings() reads it
    for option in ("x", "y", "value", "facet", "lines", "where"):
        parser.add_argument(f"--{option}", default="")
    parser.add_argument("--columns", type=int, choices=WIDTHS, default=2)
    scale = parser.add_mutually_exclusive_group()
    scale.add_argument("--log", action="store_true")
    scale.add_argument("--linear", action="store_true")
    options = parser.parse_args()
    kind = options.format or options.output.rsplit(".", 1)[-1]
    try:
        result = Result(options.file)
        options.phases = [int(phase) for phase in options.phases.split(",")] if options.phases else None
        figure = KINDS[options.kind](result, options)
    except Refused as error:
        sys.exit(f"cachetally: {error}")
    except (KeyError, OSError, RuntimeError, ValueError) as error:  # what h5py and matplotlib say of what cannot be read or drawn
        sys.exit(f"cachetally: {options.file}: is damaged, or not whole: {error.args[0]}; make it anew")
    # equal results give equal figures: no dates
    metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind)
    try:
        figure.savefig(options.output, format=kind, dpi=300, metadata=metadata)
    except OSError as error:
        sys.exit(f"cachetally: {options.output}: cannot be written: {error.strerror}")


main()
