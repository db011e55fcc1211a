# SPDX-License-Identifier: BSD-3-Clause


# Scales of values, as on the page: a part of the script after figure.py.

SPREADS, WANTED = ("linear", "logarithmic", "symmetric logarithmic"), ("auto", "linear", "log")


def wanted_of(options):
    return "log" if options.log else "linear" if options.linear else "auto"


class ValueScale:
    """A scale of viewer/core/value_scale.hpp: the tool answers on standard input what is asked on standard output."""

    def __init__(self, values, wanted, whole=1, tight=False, symmetric=False, about=5):
        """`whole`: 100 of percents, which are fractions on the page."""
        known = np.asarray(values, float) / whole
        known = known[np.isfinite(known)]
        sizes = np.abs(known[known != 0])
        extent = [end(each) if len(each) else outside for each, end, outside in
                  ((known, np.min, np.inf), (known, np.max, -np.inf), (sizes, np.min, np.inf), (sizes, np.max, -np.inf))]
        print(*map(float, [*extent, WANTED.index(wanted), symmetric, tight, about]), flush=True)
        spread, *found = map(float, sys.stdin.readline().split())
        self.spread = SPREADS[int(spread)]
        self.low, self.high, self.unit, *self.ticks = (whole * each for each in found)

    def functions(self):
        """Values as the scale spreads them, and back."""
        if self.spread == "linear":
            return lambda x: x, lambda x: x
        if self.spread == "logarithmic":
            return np.log, np.exp
        return lambda x: np.sign(x) * np.log1p(np.abs(x) / self.unit), lambda x: np.sign(x) * np.expm1(np.abs(x)) * self.unit

    def norm(self):
        """From 0 to 1, for colours."""
        return {"linear": Normalize, "logarithmic": LogNorm}.get(self.spread, lambda *ends: FuncNorm(self.functions(), *ends))(self.low, self.high)

    def title(self, text):
        return f"{text},\n{self.spread}" if self.spread == SPREADS[2] else text

    def named(self):
        """The ticks whose numbers do not lie on others: 0, and the larger first."""
        norm, named = self.norm(), []
        for tick in sorted(self.ticks, key=lambda tick: (tick != 0, -abs(tick))):
            if all(abs(float(norm(tick)) - float(norm(each))) > 0.06 for each in named):
                named.append(tick)
        return named

    def upright(self, axes):
        """On a y axis, with its numbers."""
        name = {"linear": "linear", "logarithmic": "log"}.get(self.spread, "function")
        axes.set_yscale(name, **({"functions": self.functions()} if name == "function" else {}))
        axes.set_ylim(self.low, self.high)
        axes.yaxis.set_major_locator(FixedLocator(self.ticks))
        named = self.named()
        axes.yaxis.set_major_formatter(lambda value, _: number(value) if value in named else "")
        axes.yaxis.set_minor_locator(NullLocator())


def shades(values, wanted, whole):
    """Colours of matrices of these values, transparent where one is not known, and these colours for a legend; as viewer/web/src/views/matrix.ts."""
    signed = bool((np.nan_to_num(values) < 0).any())
    name, (begin, share) = ("difference", (0, 1)) if signed else ("ramp", DRAWING["scale"]["matrix"])
    scale = ValueScale(values, wanted, whole, tight=True, symmetric=signed)
    norm = scale.norm()

    def colours(matrix):
        places = np.ma.filled(norm(np.nan_to_num(matrix, nan=scale.low)), 0)
        return np.dstack([ramp(begin + share * places, name), np.where(np.isnan(matrix), 0, 255).astype(np.uint8)])

    return colours, matplotlib.cm.ScalarMappable(norm, ListedColormap(ramp(begin + share * np.linspace(0, 1, 256), name) / 255))
