// SPDX-License-Identifier: BSD-3-Clause
// What panels are drawn from: columns of the whole axis, and, when the hand has come to rest, of what is in sight.
import { Superseded } from './client';
import { theme } from './colours';
import { Hand } from './gestures';
import { meanOf, type Panel } from './panels';
import type { Axis, Buckets, Stretch } from './protocol';

/** A panel and where its numbers come from. */
export interface PanelSource extends Omit<Panel, 'whole' | 'fine' | 'message'> {
    fetch: (stretch: Stretch) => Promise<Buckets>;
}

/** Panels that are made of the same numbers ask for each stretch once. */
export function once<T>(ask: (stretch: Stretch) => Promise<T>): (stretch: Stretch) => Promise<T> {
    let last: { key: string; answer: Promise<T> } | null = null;
    return (stretch) => {
        const key = JSON.stringify(stretch);
        if (last?.key !== key) last = { key, answer: ask(stretch) };
        return last.answer;
    };
}

/** Two panels, and what the second has more. */
export function withDifference(first: PanelSource, second: PanelSource, title: string): [PanelSource, PanelSource, PanelSource] {
    const [a, b] = [once(first.fetch), once(second.fetch)];
    const fetch = async (stretch: Stretch) => differenceOf(...(await Promise.all([a(stretch), b(stretch)])));
    return [{ ...first, fetch: a }, { ...second, fetch: b }, { ...second, title, meaning: 'difference of the means', colour: theme().misses, signed: true, fetch }];
}

const columns = 2048;

export class PanelReader {
    panels: (Panel & PanelSource)[] = [];
    private axis: Axis = { segments: [], bytes: 1 };
    private generation = 0;
    private readonly hand = new Hand();

    /** `changed`: other numbers are there to be drawn. */
    constructor(private readonly changed: () => void) {}

    /** Other panels: all are read anew. */
    set(axis: Axis, sources: PanelSource[], sight: [number, number]): void {
        this.axis = axis;
        this.panels = sources.map((source) => ({ ...source, whole: null, fine: null, message: '' }));
        ++this.generation;
        for (const panel of this.panels) void this.load(panel, { x0: 0, x1: axis.bytes, count: columns, sight: [0, axis.bytes] }, 'whole');
        void this.look(sight);
    }

    /** Another stretch is in sight. Its columns begin and end where it does, so that its table has the lines in it, and no others. */
    async look([x0, x1]: [number, number]): Promise<void> {
        const all = x0 <= 0 && x1 >= this.axis.bytes;
        if (!(await this.hand.rest(all ? 0 : 60)) || all) return;
        const width = (x1 - x0) / columns;
        const before = Math.min(columns / 2, Math.floor(x0 / width));
        const behind = Math.min(columns / 2, Math.floor((this.axis.bytes - x1) / width));
        const stretch: Stretch = { x0: x0 - before * width, x1: x1 + behind * width, count: before + columns + behind, sight: [x0, x1] };
        for (const panel of this.panels) void this.load(panel, stretch, 'fine');
    }

    private async load(panel: Panel & PanelSource, stretch: Stretch, into: 'whole' | 'fine'): Promise<void> {
        const { generation } = this;
        try {
            const data = await panel.fetch(stretch);
            if (generation === this.generation) panel[into] = data;
        } catch (error) {
            if (error instanceof Superseded) return;
            if (into === 'whole') panel.message = error instanceof Error ? error.message : String(error);
            else if (generation === this.generation) panel.fine = null;
        } finally {
            if (generation === this.generation) this.changed();
        }
    }
}

/** b - a, column by column: of the sums, and of the means of the lines as least and most, so that pictures of unequal detail can
 * be told apart. */
export function differenceOf(a: Buckets, b: Buckets): Buckets {
    const some = (i: number) => a.min[i] !== Infinity || b.min[i] !== Infinity;
    const means = a.sum.map((_, i) => meanOf(b, i, i + 1) - meanOf(a, i, i + 1));
    return {
        x0: a.x0,
        x1: a.x1,
        touched: means.map((_, i) => (some(i) ? 1 : 0)),
        sum: b.sum.map((sum, i) => sum - a.sum[i]),
        min: means.map((mean, i) => (some(i) ? mean : Infinity)),
        max: means.map((mean, i) => (some(i) ? mean : -Infinity)),
        total: b.total - a.total,
        grain: Math.max(a.grain, b.grain),
        clip: Infinity,
        above: 0,
        parts: [a, b],
    };
}
