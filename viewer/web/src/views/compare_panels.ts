// SPDX-License-Identifier: BSD-3-Clause
// A series of two files over one axis: the first, the second, and what the second has more.
import { titleOf } from '../app';
import { axisOf } from '../axis';
import type { Source } from '../client';
import { theme } from '../colours';
import { bytes } from '../numbers';
import { withDifference, type PanelSource } from '../panel_data';
import type { Axis, Phases, SeriesInfo } from '../protocol';
import { fileDifferencePython, type Sight } from '../python';
import { axesOf, type Pair } from './compare_align';

/** The axis of each file: what belongs together at the same place. */
export async function pairAxes(first: Source, second: Source, { a, b, twins }: Pair): Promise<[Axis, Axis]> {
    const unit = Math.max(a.unit, b.unit);
    if (twins) return axesOf(twins, unit);
    const axis = axisOf(await Promise.all([first.ask('extents', [a.id]), second.ask('extents', [b.id])]), unit);
    return [axis, axis];
}

export function pairPanels(first: Source, second: Source, { a, b, quantity, title }: Pair, axes: [Axis, Axis], phases: Phases): PanelSource[] {
    const units = [...new Set([a.unit, b.unit])].map(bytes).join(' and of ');
    const panel = (which: string, source: Source, series: SeriesInfo, axis: Axis): PanelSource => ({
        ...{ title: `${which}: ${titleOf(source)}`, colour: theme()[quantity], rate: quantity === 'missrate' },
        meaning: `${title.split(':')[0].toLowerCase()} per line of ${units}`,
        fetch: (stretch) => source.ask('buckets', series.id, quantity, phases, axis, stretch),
    });
    return withDifference(panel('first', first, a, axes[0]), panel('second', second, b, axes[1]), 'second − first');
}

/** `sight`: addresses of the first that are shown; null: all. */
export function pairPython(first: Source, second: Source, { a, b, quantity, twins }: Pair, axes: [Axis, Axis], phases: Phases, sight: Sight): string {
    if (!twins) return fileDifferencePython(first, second, a, b, quantity, phases, sight, null);
    const shown = sight ?? axes[0].segments.map(({ base, bytes: size }): [bigint, bigint] => [base, base + BigInt(size)]);
    const places = twins.flatMap(({ first: { base }, second: { base: elsewhere }, bytes: size }) =>
        shown.flatMap(([from, to]): [bigint, bigint, number][] => {
            const begin = from > base ? from : base;
            const end = to < base + BigInt(size) ? to : base + BigInt(size);
            return begin < end ? [[begin, elsewhere + begin - base, Number(end - begin)]] : [];
        }),
    );
    return fileDifferencePython(first, second, a, b, quantity, phases, null, places);
}
