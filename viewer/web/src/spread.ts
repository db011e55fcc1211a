// SPDX-License-Identifier: BSD-3-Clause
// When counts are drawn on a logarithmic scale unless people choose: one rule for the page, `cachetally show` (viewer/plot.hpp) and
// `cachetally figure` (viewer/figures/figure.py); docs/viewer.md tells it.

/** Values below the largest by more than this are hardly seen on a linear scale. */
const far = 50;

/** Values that are known in two passes: first the largest, then how many lie far below it. */
export class Spread {
    private most = 0;
    private all = 0;
    private low = 0;

    see(value: number): void {
        if (value > this.most) this.most = value;
    }

    /** The second time, when all were seen; `weight`: how many lines have the value. */
    count(value: number, weight = 1): void {
        if (!(value > 0)) return;
        this.all += weight;
        if (value * far < this.most) this.low += weight;
    }

    /** More than half of the values above 0 lie below a fiftieth of the largest. */
    get uneven(): boolean {
        return 2 * this.low > this.all;
    }
}

/** The same of values that are all there. */
export function isUneven(values: ArrayLike<number>): boolean {
    const spread = new Spread();
    for (let i = 0; i < values.length; ++i) spread.see(values[i]);
    for (let i = 0; i < values.length; ++i) spread.count(values[i]);
    return spread.uneven;
}
