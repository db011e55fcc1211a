// SPDX-License-Identifier: BSD-3-Clause
// The answer that a run's page begins with: how much the first level misses, where, when, why, and what helps. A pure function of what the file says.
import { maxIndex, sum } from 'd3-array';
import { rangeOf } from './axis';
import { causeNames, cubeOf, evictionsOf, firstLevels, rowsOf, sharingRows, sumOf, sumsBy, totalsOf, type Dimension, type Filter } from './cube';
import { full, percent, phasesInWords } from './numbers';
import type { FileInfo } from './protocol';
import type { State } from './app';

/** The largest of several, and what it is a part of. */
export type Part = { name: string; index: number; count: number; of: number };

/** The worst of all at the level (`structure`); of what that misses the worst phase, cause, function, source line and core, what evicts most of it, and
 * how much of what was invalidated is false sharing (NaN: not known). */
export type Answer = NonNullable<ReturnType<typeof answerOf>>;

function largest(names: string[], counts: Iterable<number>): Part | null {
    const index = maxIndex(counts);
    const count = [...counts][index];
    return count > 0 ? { name: names[index], index, count, of: sum(counts) } : null;
}

/** Of misses after invalidations in the addresses of a structure. */
function falseSharingOf(info: FileInfo, level: string, structure: string): number {
    const rows = sharingRows(info, level, info.structures.filter((each) => each.name === structure).map(rangeOf));
    const [wrong, right] = (['false_sharing', 'true_sharing'] as const).map((kind) => sum(rows, (i) => info.sharing![kind][i]));
    return wrong + right > 0 ? wrong / (wrong + right) : NaN;
}

/** `level`: another than the first. */
export function answerOf(info: FileInfo, level = firstLevels(info)[0]) {
    const cube = level === undefined ? null : cubeOf(info, level);
    const totals = level === undefined ? { accesses: 0, misses: 0 } : totalsOf(info, level);
    if (totals.accesses === 0) return null;
    const names = (by: Dimension) => cube?.dimensions[by]?.names ?? [];
    const worst = (by: Dimension, filter: Filter) => cube && largest(names(by), sumsBy(cube, by, cube.misses, rowsOf(cube, filter)));
    const structure = worst('structure', {});
    const filter: Filter = structure ? { structure: [structure.index] } : {};
    const rows = cube ? rowsOf(cube, filter) : [];
    const causes = cube?.causes ? cube.causes.map((each) => sumOf(each, rows)) : [];
    const cause = largest(causeNames, causes);
    // phases of the misses of that cause
    const byPhase = cube ? [...sumsBy(cube, 'phase', cause ? cube.causes![cause.index] : cube.misses, rows)] : [];
    const phase = largest(names('phase'), byPhase);
    const phases = phase ? byPhase.flatMap((count, i) => (count >= alike * phase.count ? [i] : [])) : [];
    const evictions = structure ? evictionsOf(info, level, null, [structure.name]) : [];
    return {
        ...{ level, ...totals, structure, cause, phase },
        /** As bad as the worst, and what they have of it together. */
        several: names('phase').length > 1,
        ...{ phases, inPhases: sum(phases, (i) => byPhase[i]) },
        /** The next cause, where it is a large part, too. */
        second: cause && largest(causeNames, causes.map((count, i) => (i !== cause.index && count >= largePart * cause.of ? count : 0))),
        ...{ function: worst('function', filter), line: worst('line', filter), core: worst('core', filter) },
        evictor: largest(evictions.map(({ by }) => by), evictions.map(({ count }) => count)),
        falseSharing: structure ? falseSharingOf(info, level, structure.name) : NaN,
    };
}

/** Of the count of the worst phase: others are as bad. */
const alike = 0.99;
const largePart = 0.25;

const share = (part: Part): string => percent(part.count / part.of);

const inWords: Record<string, string> = {
    'first use': 'are first uses',
    invalidated: 'come after invalidations',
    capacity: 'are capacity misses',
    conflict: 'are conflicts',
};

/** "L1 misses 5.74 % of 3,020,896 accesses; A causes 99.65 % of them, 61.82 % of those are conflicts, worst in phase 4." */
export function sentenceOf(answer: Answer, { phases: { names } }: FileInfo): string {
    const { level, accesses, misses, structure, cause, phase, phases, several } = answer;
    if (misses === 0) return `${level} misses nothing: all ${full(accesses)} accesses hit.`;
    const parts = [`${level} misses ${percent(misses / accesses)} of ${full(accesses)} accesses`];
    if (structure) parts.push(`; ${structure.name} causes ${share(structure)} of them`);
    if (cause) parts.push(`, ${share(cause)} of those ${inWords[cause.name]}`);
    if (phase && several) parts.push(`, ${phase.of > phase.count ? 'worst' : 'all'} in ${phasesInWords(phases, names)}`);
    return `${parts.join('')}.`;
}

const isTlb = (info: FileInfo, level: string): boolean => info.components.some(({ name, group }) => group === 'tlbs' && name === level);

/** What helps against a cause: a few words, and why (docs/causes.md, docs/advice.md). */
export function remedyOf({ level, cause, second, evictor, structure, falseSharing }: Answer, info: FileInfo): [string, string] {
    const trial = ' cachetally advise tries changes of the data, and measures them.';
    if (!cause && isTlb(info, level)) return ['larger pages', 'With larger pages, or with what is used together side by side, fewer entries are in use.'];
    if (!cause) return ['ask for causes', 'Run it again with --causes, which says why lines miss and what evicts them.'];
    const itself = evictor !== null && evictor.name === structure?.name;
    const remedies: Record<string, [string, string]> = {
        'first use': ['prefetch, longer lines', 'Lines are used for the first time: prefetching, longer lines or smaller elements bring fewer of them one by one.'],
        invalidated:
            falseSharing > 0.5
                ? ['pad to lines', `${percent(falseSharing)} is false sharing: give what different cores store lines of its own.`]
                : falseSharing <= 0.5
                  ? ['share less', `${percent(1 - falseSharing)} is true sharing: let cores store what others use less often, or keep sums of their own until the end.`]
                  : ['share less', 'Other cores or a level below take the lines: share otherwise, pad, or make an inclusive level below larger.'],
        capacity: ['tiles that fit', 'More lines are in use than the cache has: work on tiles that fit into it, use more of each line, or take a larger cache.'],
        conflict: itself
            ? ['pad rows, or block it', `${structure!.name} evicts itself though the cache has room: pad its rows by a line, or store it by blocks. More ways help, too.`]
            : ['move it, or pad', `${evictor ? `${evictor.name} evicts it` : 'It is evicted'} though the cache has room: move one of them by a line or half a way, pad, or take more ways.`],
    };
    const [words, why] = remedies[cause.name];
    const also = second ? ` ${percent(second.count / cause.of)} ${inWords[second.name]}: ${remedies[second.name][0]}.` : '';
    return [words, why + also + trial];
}

/** One of the five that answer first; `go`: what is looked at when it is pressed. */
export type Tile = { id: 'level' | 'where' | 'when' | 'why' | 'remedy'; label: string; value: string; note: string; go: Partial<State> };

export function tilesOf(answer: Answer, info: FileInfo): Tile[] {
    const { level, accesses, misses, structure, phase, cause, evictor } = answer;
    const all = { view: '', show: 'misses', level, phases: '', sel: '', structure: '', cause: '', core: '', func: '', x: '' };
    // what has no addresses of its own, as "(gzip)", has no place in the picture
    const isPlaced = info.structures.some(({ name, bytes }) => name === structure?.name && bytes > 0);
    const here = { ...all, structure: isPlaced ? structure!.name : '' };
    const tiles: Tile[] = [{ id: 'level', label: 'How much', value: percent(misses / accesses), note: `${level} misses ${full(misses)} of ${full(accesses)}`, go: all }];
    if (!structure) return tiles;
    const { function: named, line } = answer;
    const code = named && !named.name.startsWith('(') ? named : null;
    const at = line ? `; most at ${line.name}` : '';
    const byCode = code && answer.several ? `, ${share(code)} of these in ${code.name}${at}` : '';
    tiles.push({ id: 'where', label: 'Where', value: structure.name, note: `${share(structure)} of the misses of ${level}${byCode}`, go: here });
    if (code && !answer.several) {
        tiles.push({ id: 'when', label: 'Which code', value: code.name, note: `${share(code)} of its misses${at}`, go: { ...here, func: code.name } });
    } else if (phase && answer.several) {
        const time = info.phases.cycles;
        const whole = sum(time);
        const taken = sum(answer.phases, (each) => time[each] ?? 0);
        const part = percent(answer.inPhases / phase.of);
        const what = cause ? `of its ${cause.name} misses` : 'of its misses';
        const note = `${phase.of > phase.count ? part : 'all'} ${what}${whole > 0 ? `, in ${percent(taken / whole)} of the time` : ''}`;
        const value = phasesInWords(answer.phases, answer.phases.length > 1 ? [] : info.phases.names); // names of several are in the sentence
        // with the cause that the note speaks of, so that the picture's bars of phases are of the same misses
        tiles.push({ id: 'when', label: 'When', value, note, go: { ...here, cause: cause?.name ?? '', phases: answer.phases.join(',') } });
    } else tiles.push({ id: 'when', label: 'When', value: 'in its one phase', note: 'the program is not divided into phases', go: here });
    const [words, why] = remedyOf(answer, info);
    const shared = cause?.name === 'invalidated' && answer.falseSharing > 0.5;
    const uncaused = isTlb(info, level) ? 'causes are known of caches alone' : 'the run was made without --causes';
    const told = cause ? `${share(cause)} of its misses${shared ? ` come after invalidations, ${percent(answer.falseSharing)} of these by false sharing` : ''}` : uncaused;
    return [
        ...tiles,
        { id: 'why', label: 'Why', value: shared ? 'false sharing' : (cause?.name ?? (isTlb(info, level) ? 'not known' : 'not asked')), note: told, go: { ...here, cause: cause?.name ?? '' } },
        { id: 'remedy', label: 'What to try', value: words, note: why, go: { ...here, cause: cause && evictor ? cause.name : '' } },
    ];
}
