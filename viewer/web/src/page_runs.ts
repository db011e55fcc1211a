// SPDX-License-Identifier: BSD-3-Clause
// Runs of pages that have counts: what the axis of addresses is made of.
import { axis as rule } from '../../drawing.json';
import type { Extents } from './protocol';

const page = rule.page_bytes;

/** The first page, the first byte in it that may have counts, the last page, the last byte in it. */
export type PageRun = [number, number, number, number];

/** Sorts runs, and joins those that share pages or lie side by side. */
export function joined(runs: PageRun[]): PageRun[] {
    runs.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const found: PageRun[] = [];
    let last: PageRun | undefined;
    for (const run of runs) {
        if (!last || run[0] > last[2] + 1) found.push((last = run));
        else if (run[2] > last[2] || (run[2] === last[2] && run[3] > last[3])) [, , last[2], last[3]] = run;
    }
    return found;
}

/** Collects runs in bounded memory, as long as what they join to is bounded. */
export class PageRuns {
    private runs: PageRun[] = [];
    private most = 1 << 20;

    /** Bytes from an address on, in halves of 32 bits. */
    add(high: number, low: number, bytes: number): void {
        const first = (high * 4294967296) / page + Math.floor(low / page);
        const end = (low % page) + bytes - 1;
        const run: PageRun = [first, low % page, first + Math.floor(end / page), end % page];
        const last = this.runs.at(-1); // neighbours share pages
        if (last?.[2] === run[0] && run[2] === run[0] && run[1] >= last[1] && last[0] === last[2]) {
            if (run[3] > last[3]) last[3] = run[3];
            return;
        }
        this.runs.push(run);
        if (this.runs.length < this.most) return;
        this.runs = joined(this.runs);
        this.most = Math.max(this.most, 2 * this.runs.length);
    }

    all(): Extents {
        this.runs = joined(this.runs);
        return {
            page: Float64Array.from(this.runs, ([number]) => number),
            first: Uint16Array.from(this.runs, ([, first]) => first),
            lastPage: Float64Array.from(this.runs, ([, , number]) => number),
            last: Uint16Array.from(this.runs, ([, , , last]) => last),
        };
    }
}

/** Those of several series or files. */
export function united(list: Extents[]): PageRun[] {
    return joined(
        list.flatMap((each) =>
            Array.from(each.page, (number, i): PageRun => [number, each.first[i], each.lastPage[i], each.last[i]]),
        ),
    );
}
