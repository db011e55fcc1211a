// SPDX-License-Identifier: BSD-3-Clause
// The answer that a run's page begins with: how much the first level misses, where, when, why, and what helps. A pure function of what the file says.
import { maxIndex, sum } from 'd3-array';
import { causes as inWords, misses as missesOf, phases as phaseRule, rare, remedies, sparse } from '../../answer.json';
import { rangeOf } from './axis';
import { answer as coreAnswer } from './core';
import { causeNames, cubeOf, evictionsOf, firstLevels, isTlb, narrowed, rowsOf, sharingRows, sumOf, sumsBy, totalsOf, type Cube, type Dimension, type Filter } from './cube';
import { abridged, full, percent, phasesInWords, phasesText } from './numbers';
import type { FileInfo, Phases } from './protocol';
import { filterByNames, type State } from './app';

/** The largest of several, and what it is a part of. */
export type Part = { name: string; index: number; count: number; of: number };

/** The worst structure at the level; of its misses the worst phases, cause, function, source line, core and evictor, and the share of false sharing (NaN: not known). */
export type Answer = NonNullable<ReturnType<typeof answerOf>>;

function largest(names: string[], counts: Iterable<number>, index = maxIndex(counts)): Part | null {
    const count = [...counts][index];
    return count > 0 ? { name: names[index], index, count, of: sum(counts) } : null;
}

/** What an answer is of: the chosen core and function (`whole`), structure (`asked`) and cause (`only`; -1: all), in words `code` and `subject`; unknown names count as none. */
function subjectOf(known: Cube | null, state: State, within: string) {
    const named: Filter = Object.fromEntries(Object.entries(filterByNames(known, state)).filter(([, numbers]) => numbers.length > 0));
    const name = (by: Dimension, before: string) => (named[by] ? ` ${before} ${abridged(known!.dimensions[by]!.names[named[by][0]])}` : '');
    const only = known?.causes ? causeNames.indexOf(state.cause ?? '') : -1;
    const { structure: [asked] = [], ...others } = named;
    const code = name('core', 'by') + name('function', 'in');
    return { asked, named, only, code, whole: known && narrowed(known, others, only), subject: (within ? ` to ${within}` : name('structure', 'to')) + code };
}

/** As the core has it; where none stands out, `phases` are all. */
function worstPhases(among: number[], names: string[], byPhase: number[], accessesBy: number[]) {
    const numbers = Uint32Array.from(byPhase, (_, i) => (names[i] ? names.indexOf(names[i]) : i));
    const [several, count, peaks, higher, ...found] = coreAnswer('worst_phases', Uint32Array.from(among), Float64Array.from(byPhase), Float64Array.from(accessesBy), numbers, phaseRule.alike, phaseRule.standsOut, phaseRule.majority).numbers;
    const missesIn = (phases: number[]) => sum(phases, (i) => byPhase[i]);
    const [ofPhases, standsOut, others] = [missesIn(among), count > 0, found.slice(count + peaks)];
    const phases = standsOut ? found.slice(0, count) : ofPhases > 0 ? among : [];
    return { several: several > 0, standsOut, phases, inPhases: missesIn(phases), ofPhases, others, othersRate: higher ? 'higher' : 'lower', inOthers: missesIn(others), most: found.slice(count, count + peaks) };
}

/** `level`: another than the first; `chosen`: phases that it is of; `state`: what else is chosen; `brushed`: what is known of what is selected in these phases, which is `within`. */
export function answerOf(info: FileInfo, level = firstLevels(info)[0], chosen: Phases = null, state: State = {}, brushed: Cube | null = null, within = 'the selected lines') {
    const all = level === undefined ? { accesses: 0, misses: 0 } : totalsOf(info, level, chosen);
    if (all.accesses === 0) return null;
    const { whole, asked, named, only, code, subject } = subjectOf(brushed ?? cubeOf(info, level), state, brushed ? within : '');
    const cube = whole && chosen && !brushed ? narrowed(whole, { phase: chosen }) : whole;
    const worst = (by: Dimension, filter: Filter, which?: number) => cube && largest(cube.dimensions[by]?.names ?? [], sumsBy(cube, by, cube.misses, rowsOf(cube, filter)), which);
    const structure = worst('structure', {}, asked);
    const ofAsked: Filter = asked === undefined ? {} : { structure: [asked] };
    const filter: Filter = structure ? { structure: [structure.index] } : ofAsked;
    const rows = cube ? rowsOf(cube, filter) : [];
    const own = (of: Cube | null, which: 'accesses' | 'misses') => (of ? sumOf(of[which], rowsOf(of, ofAsked)) : 0);
    const inAll = subject || only >= 0 ? own(whole, 'misses') : totalsOf(info, level).misses;
    const totals = { accesses: subject ? own(cube, 'accesses') : all.accesses, misses: subject || only >= 0 ? own(cube, 'misses') : all.misses };
    const causes = cube?.causes ? cube.causes.map((each) => sumOf(each, rows)) : [];
    const cause = largest(causeNames, causes, only < 0 ? undefined : only);
    const [byPhase, accessesBy] = cube ? [cube.misses, cube.accesses].map((counts) => [...sumsBy(cube, 'phase', counts, rows)]) : [[], []];
    const when = worstPhases(chosen ?? [...byPhase.keys()], info.phases.names, byPhase, accessesBy);
    const inWhich = worst('function', filter);
    const inCode: Filter = inWhich && !inWhich.name.startsWith('(') ? { ...filter, function: [inWhich.index] } : filter;
    // of some phases, where it is not that of all together
    const causeIn = (some: number[], counts = cause && only < 0 ? cube!.causes!.map((each) => sumOf(each, rowsOf(cube!, { ...filter, phase: some }))) : [], found = largest(causeNames, counts)) => (found && found.count > counts[cause!.index] ? found : null);
    const evictions = structure ? evictionsOf(info, level, chosen, [structure.name]) : []; // by line, code and core those of the structure
    return {
        ...{ level, ...totals, chosen, structure, cause, there: causeIn(when.standsOut ? when.phases : []), othersCause: causeIn(when.others), code, subject, inAll, all: all.misses, uses: firstLevels(info).includes(level) ? sum(accessesBy) / sum(byPhase) : NaN },
        ...{ only: only < 0 ? null : (causeNames[only] as Cause), asked: asked !== undefined, unnamed: structure?.name === elsewhere && info.structures.every(({ name }) => name === elsewhere), lines: brushed ? within : '', ...when },
        /** The next cause, where it is a large part, too. */
        second: cause && only < 0 ? largest(causeNames, causes.map((count, i) => (i !== cause.index && count >= largePart * cause.of ? count : 0))) : null,
        ...{ function: inWhich, line: worst('line', inCode) },
        evictor: largest(evictions.map(({ by }) => by), evictions.map(({ count }) => count)),
        falseSharing: structure && !named.function && !brushed ? falseShare(info, level, structure.name, chosen, named.core) : NaN,
    };
}

/** Of misses after invalidations in the addresses of a structure. */
function falseShare(info: FileInfo, level: string, structure: string, chosen: Phases, cores?: number[]): number {
    const inStructure = sharingRows(info, level, info.structures.filter(({ name }) => name === structure).map(rangeOf), chosen);
    const shared = inStructure.filter((i) => cores?.includes(info.sharing!.core[i]) ?? true);
    const [wrong, right] = (['false_sharing', 'true_sharing'] as const).map((kind) => sum(shared, (i) => info.sharing![kind][i]));
    return wrong / (wrong + right);
}

const [largePart, elsewhere, unnamedNote] = [0.1, '(elsewhere)', 'the input names no data structures; replay --structures FILE does'];
type Cause = keyof typeof inWords;
const share = (part: Part): string => percent(part.count / part.of);

/** "L1 misses 5.74 % of 3,020,896 accesses; A causes 99.65 % of them, 61.82 % of those are conflicts, worst in phase 4." (docs/viewer.md) */
export function sentenceOf(answer: Answer, { phases: { names } }: FileInfo): string {
    const { level, accesses, misses, chosen, structure, cause, there, phases, inPhases, ofPhases, several, standsOut, most, others, othersRate, inOthers, othersCause, only, subject, asked, unnamed, all } = answer;
    const where = `accesses${subject}${chosen ? ` in ${phasesInWords(chosen, names)}` : ''}`;
    if (accesses === 0) return `${level} has no ${where}.`;
    if (misses === 0) return `${level} has no ${only ? missesOf[only] : 'misses'} in ${Number.isNaN(accesses) ? '' : `${full(accesses)} `}${where}.`;
    const count = Number.isNaN(accesses) ? full(misses) : `${percent(misses / accesses)} of ${full(accesses)}`;
    const parts = [only ? `${level} has ${missesOf[only]} in ${count} ${where}` : `${level} misses ${count} ${where}`];
    if (subject || only) parts.push(`, ${percent(misses / all)} of all misses of ${level}${chosen ? ` in ${chosen.length > 1 ? 'these phases' : 'this phase'}` : ''}`);
    if (structure && !asked && !unnamed) parts.push(`; ${abridged(structure.name)} causes ${share(structure)} of them`);
    if (cause && !only) parts.push(`${asked || unnamed ? ';' : ','} ${share(cause)} of ${unnamed ? 'the misses' : 'those'} ${inWords[cause.name as Cause]}`);
    if (phases.length && several && !standsOut) parts.push(`; ${phaseRule.none}`);
    else if (phases.length && several) parts.push(`, ${inPhases < ofPhases ? 'worst' : 'all'} in ${phasesInWords(phases, names)}${there ? `, where ${share(there)} of them ${inWords[there.name as Cause]}` : ''}${most.length > 0 ? `, most of all in ${phasesInWords(most, [])}` : ''}${others.length > 0 ? `; ${percent(inOthers / ofPhases)} in ${phasesInWords(others, names)}, at a ${othersRate} rate${othersCause ? `, where ${share(othersCause)} of them ${inWords[othersCause.name as Cause]}` : ''}` : ''}`);
    return `${parts.join('')}.`;
}

/** What helps against a cause: a few words, and why (docs/causes.md, docs/advice.md). The same as in the terminal (viewer/remedy.cpp). */
export function remedyOf({ level, accesses, misses, cause, second, there, evictor, structure, falseSharing, uses }: Answer, info: FileInfo): [string, string] {
    const own = evictor !== null && evictor.name === structure?.name && !evictor.name.startsWith('('); // of data without a name nothing is known
    const shared = Number.isNaN(falseSharing) ? 'invalidated' : falseSharing > 0.5 ? 'false sharing' : 'true sharing';
    const nameOf = (name: Cause) => (name === 'invalidated' ? shared : name === 'conflict' && own ? 'self-conflict' : name);
    const isRare = misses / accesses < rare, isSparse = cause?.name === 'capacity' && uses > 0 && uses < sparse;
    const [words, fact, advice] = remedies[isRare ? 'rare' : isSparse ? 'sparse' : cause ? nameOf(cause.name as Cause) : isTlb(info, level) ? 'TLB' : info.causes.length ? 'level' : 'unknown'];
    const told = fact.replace('{uses}', (Math.round(10 * uses) / 10).toFixed(1)).replace('{rate}', percent(misses / accesses)).replace('{share}', percent(Math.max(falseSharing, 1 - falseSharing))).replace('{evictor}', () => (evictor && (own || evictor.name !== structure?.name) ? abridged(evictor.name) : 'Another line'));
    if (!cause || isRare) return [words, `${told}: ${advice}`];
    // longer lines would be shared by more
    const also = second && !(cause.name === 'invalidated' && second.name === 'first use') ? ` ${percent(second.count / cause.of)} ${inWords[second.name as Cause]}: ${remedies[nameOf(second.name as Cause)][0]}.` : '';
    const worst = there ? ` In the worst phases: ${remedies[nameOf(there.name as Cause)][0]}.` : '';
    return [words, `${told}: ${advice}${worst || also} cachetally advise tries changes of the data, and measures them.`];
}

/** The share of the time beyond hits of the first levels; NaN: not known. */
const beyondHits = ({ phases: { cycles, hitCycles } }: FileInfo, phases: Phases) => (hitCycles.length > 0 ? 1 - sum(phases ?? cycles.keys(), (each) => hitCycles[each]) / sum(phases ?? cycles.keys(), (each) => cycles[each]) : NaN);

/** `of`: phases that are the whole; null: all. */
function timeIn(info: FileInfo, phases: number[], of: Phases = null): string {
    const [{ cycles }, beyond] = [info.phases, beyondHits(info, phases)], whole = sum(of ?? cycles.keys(), (each) => cycles[each]);
    return whole > 0 ? `, in ${percent(sum(phases, (each) => cycles[each]) / whole)} of the time${beyond >= 0 ? `; ${percent(beyond)} of that is beyond hits` : ''}` : '';
}

/** One of the five that answer first; `go`: what is looked at when it is pressed. */
export type Tile = { id: 'level' | 'where' | 'when' | 'why' | 'remedy'; label: string; value: string; note: string; go: Partial<State> };

export function tilesOf(answer: Answer, info: FileInfo): Tile[] {
    const { level, accesses, misses, chosen, structure, phases, cause, evictor, only, inAll } = answer;
    const all = { view: '', show: 'misses', level, phases: phasesText(chosen), x: '' };
    const here = { ...all, ...(answer.lines ? {} : { sel: '', structure: structure?.name ?? '' }) };
    const [rate, of] = Number.isNaN(accesses) ? [full(misses), ''] : [percent(misses / accesses), ` of ${full(accesses)}`];
    const [what, lost] = [only ? missesOf[only] : 'misses', answer.subject || only || chosen ? NaN : beyondHits(info, null)];
    const tiles: Tile[] = [{ id: 'level', label: 'How much', value: rate, note: `${level} ${only ? `has ${full(misses)} ${what}` : `misses ${full(misses)}`}${of}${answer.subject && ` accesses${answer.subject}`}${lost >= 0 ? `; ${percent(lost)} of the time is beyond hits of the first levels` : ''}`, go: all }];
    if (!structure && phases.length === 0) return tiles;
    const { function: named, line } = answer, code = named && !named.name.startsWith('(') ? named : null;
    const at = line && !line.name.startsWith('(') ? `; most at ${line.name}` : '';
    const byCode = code && answer.several ? `, ${share(code)} of these in ${code.name}${at}` : '';
    if (structure) tiles.push({ id: 'where', label: 'Where', value: answer.unnamed ? 'not known' : abridged(structure.name, 44), note: answer.unnamed ? unnamedNote : `${share(structure)} of the ${what} of ${level}${chosen ? ` in ${chosen.length > 1 ? 'these phases' : 'this phase'}` : ''}${answer.lines ? ` in ${answer.lines}` : answer.code}${byCode}`, go: here });
    if (code && !answer.several) {
        tiles.push({ id: 'when', label: 'Which code', value: code.name, note: `${share(code)} of its misses${at}`, go: { ...here, func: code.name } });
    } else if (phases.length > 0 && answer.several) {
        const note = answer.standsOut ? `${answer.inPhases < answer.ofPhases ? percent(answer.inPhases / answer.ofPhases) : 'all'} of its ${what}${timeIn(info, phases, chosen)}${answer.others.length > 0 ? `; ${percent(answer.inOthers / answer.ofPhases)} in ${phasesInWords(answer.others, [])}, at a ${answer.othersRate} rate` : ''}` : `none has ${phaseRule.standsOut} times the mean of all`;
        const words = [info.phases.names, []].map((names) => phasesInWords(phases, names)).find((text) => text.length <= 40); // else it is in the sentence
        const value = answer.standsOut ? (words ?? `${phases.length} phases`) : chosen ? 'in all of these phases' : 'in all phases';
        tiles.push({ id: 'when', label: 'When', value, note, go: { ...here, ...(answer.standsOut ? { phases: phasesText(phases) } : {}) } });
    } else if (chosen && !answer.lines) {
        const note = `as chosen: ${percent(misses / inAll)} of the ${what} of all phases${timeIn(info, chosen)}`;
        tiles.push({ id: 'when', label: 'When', value: phasesInWords(chosen, info.phases.names), note, go: { ...here, phases: '' } });
    } else if (!chosen) tiles.push({ id: 'when', label: 'When', value: 'in its one phase', note: 'the program is not divided into phases; run --phase-every divides it', go: here });
    const [words, why] = remedyOf(answer, info);
    const shared = cause?.name === 'invalidated' && answer.falseSharing > 0.5, unknown = isTlb(info, level) || info.causes.length > 0;
    const uncaused = isTlb(info, level) ? 'causes are known of caches alone' : unknown ? 'causes are not known for victim and exclusive levels, sectored caches and the point of coherence' : 'the run was made without --causes';
    const there = answer.there ? `; in the worst phases ${share(answer.there)} ${inWords[answer.there.name as Cause]}` : '';
    const told = cause ? `${share(cause)} of its misses${shared ? ` come after invalidations, ${percent(answer.falseSharing)} of these by false sharing` : ''}${there}` : uncaused;
    return [
        ...tiles,
        { id: 'why', label: 'Why', value: shared ? 'false sharing' : (cause?.name ?? (unknown ? 'not known' : 'not asked')), note: told, go: { ...here, cause: cause?.name ?? '' } },
        { id: 'remedy', label: 'What to try', value: words, note: why, go: { ...here, cause: cause && evictor ? cause.name : '' } },
    ];
}
