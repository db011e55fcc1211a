// SPDX-License-Identifier: BSD-3-Clause
// The page: opens files, shows the views that a file can fill, and keeps the state in the URL.
import './style.css';
import { range, sort } from 'd3-array';
import { answerOf, sentenceOf, tilesOf } from './answer';
import { chosenOf, depth, readHash, titleOf, writeHash, type App, type State, type View } from './app';
import { bytesOf } from './core';
import { isReading, openSource, type Source } from './client';
import { copied, fill, h, moveFocus, segmented } from './dom';
import { frames } from './figure';
import { Hand } from './gestures';
import { bytes, full } from './numbers';
import { listenForKeys, openKeys, openSearch } from './palette';
import { FileError, messageOf, NoDigests } from './protocol';
import { shade } from './field_draw';
import { viewsOf, type ViewKind } from './views';
import { pairsOf, placed } from './views/compare';

const root = document.getElementById('app')!;
/** Views that show all files at once. */
const bothAtOnce = ['compare', 'curves', 'trackers'];
/** Of files: a .. z, aa .. zz, and so on; in the URL, where none is what is shown by itself. */
const letterOf = (i: number): string => (i < 26 ? '' : letterOf(Math.floor(i / 26) - 1)) + String.fromCharCode(97 + (i % 26));
/** Whether more than one may lie beside it. */
const takesMany = ({ info }: Source): boolean => !!(info.probe ?? info.sweep ?? info.trackers);
type Purpose = 'open' | 'compare';

class Page implements App {
    /** The first is what was opened; others are compared with it. */
    private files: Source[] = [];
    state: State = readHash();
    current: View | null = null;
    private shown = '';
    private shownFile = '';
    /** What the view can show of several files, one at a time, by `file` of the state. */
    private turns: string[] = [];
    private keeping = 0;
    /** Whether the state that is kept next is a step of its own. */
    private step = false;
    private readonly main = h('main', { id: 'view' });
    private readonly tabs = h('nav', { class: 'tabs', role: 'tablist', 'aria-label': 'Views' });
    private readonly facts = h('div', { class: 'facts' });
    private readonly notices = h('div', { class: 'notices', role: 'status' });
    private readonly compareButton: HTMLButtonElement;
    private readonly input = h('input', { type: 'file', multiple: true, accept: '.h5,.hdf5', hidden: true, 'aria-label': 'Result file' });
    private readonly switch = h('div', { class: 'files' });
    private purpose: Purpose = 'open';

    constructor() {
        const button = (text: string, hint: string, onclick: () => void, more = {}) => h('button', { type: 'button', title: hint, onclick, ...more }, text);
        const tool = (text: string, hint: string, onclick: () => void) => button(text, hint, onclick, { 'aria-label': hint });
        this.compareButton = button('Compare …', 'Lay a second result beside this one', () => this.choose('compare'), { hidden: true });
        this.input.addEventListener('change', () => void this.takeAll([...(this.input.files ?? [])], this.purpose));
        const opens = button('Open …', 'Open a result file', () => this.choose('open'), { class: 'primary' });
        const search = tool('Search', 'Search (/)', () => this.files.length && openSearch(this));
        const [undo, link] = [tool('↶', 'Undo (u)', () => this.undo()), tool('Copy link', 'Copy a link to what is shown (c)', () => void this.copyLink())];
        const [keys, dark] = [tool('?', 'Keys (?)', openKeys), tool('◐', 'Dark or light', () => this.switchTheme())];
        const actions = h('div', { class: 'actions' }, opens, this.compareButton, search, undo, link, keys, dark);
        const header = h('header', {}, h('div', { class: 'brand' }, logo(), 'cachetally'), this.facts, this.switch, actions);
        root.replaceChildren(header, this.notices, this.tabs, this.main, this.input);
        this.applyTheme();
        this.listen();
        this.landing();
    }

    /** The file that views show: the first, or another that is chosen; those that show all files at once have them in order. */
    private get at(): number {
        const chosen = this.files.findIndex((_, i) => letterOf(i) === this.state.file);
        return !bothAtOnce.includes(this.state.view ?? '') && !this.files[0]?.info.probe ? Math.max(0, chosen) : 0;
    }

    get source(): Source { return this.files[this.at]; }

    get others(): Source[] { return this.files.filter((_, i) => i !== this.at); }

    get flipped(): boolean { return this.at > 0; }

    private choose(purpose: Purpose): void {
        this.purpose = purpose;
        this.input.multiple = purpose === 'open' || takesMany(this.files[0]);
        this.input.value = '';
        this.input.click();
    }

    private listen(): void {
        listenForKeys(() => (this.files.length ? this : null), { u: () => this.undo(), c: () => void this.copyLink(), b: () => this.flip() });
        window.addEventListener('keydown', moveFocus);
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.applyTheme());
        window.addEventListener('hashchange', () => {
            window.clearTimeout(this.keeping);
            this.step = false;
            this.state = readHash();
            this.applyTheme();
            if (this.files.length) this.render();
        });
        // paper is light: before pictures are drawn for it
        window.addEventListener('beforeprint', () => (document.documentElement.dataset.theme = 'light'), true);
        window.addEventListener('afterprint', () => this.applyTheme());
        window.addEventListener('filefault', (event) => this.tellFault((event as CustomEvent<string>).detail));
        // of files it was told already
        window.addEventListener('unhandledrejection', (event) => event.reason instanceof FileError && event.preventDefault());
        for (const kind of ['dragover', 'dragleave', 'drop'] as const)
            window.addEventListener(kind, (event) => {
                event.preventDefault();
                document.body.classList.toggle('dropping', kind === 'dragover' || (kind === 'dragleave' && event.relatedTarget !== null));
                if (kind === 'drop') void this.takeAll([...(event.dataTransfer?.files ?? [])], event.shiftKey && this.files.length ? 'compare' : 'open');
            });
    }

    set(change: Partial<State>): void {
        if (!this.step) this.flushState(); // where the last step has moved to
        this.keepState(change);
        this.step = true;
        this.render();
    }

    move(x: string): void { this.keepState({ x }); }

    private undo(): void {
        this.flushState();
        if (depth() > 0) history.back();
    }

    private async copyLink(): Promise<void> {
        this.flushState();
        const told = h('div', { class: 'toast', role: 'status' }, (await copied(location.href)) ? 'Link copied.' : location.href);
        document.body.append(told);
        window.setTimeout(() => told.remove(), 2500);
    }

    /** Browsers take only so many changes of the URL in a while. What is chosen is a step that Back undoes; moving is none. */
    private keepState(change: Partial<State> = {}): void {
        this.state = { ...this.state, ...change };
        window.clearTimeout(this.keeping);
        this.keeping = window.setTimeout(() => this.flushState(), 150);
    }

    private flushState(): void {
        window.clearTimeout(this.keeping);
        writeHash(this.state, this.step);
        this.step = false;
    }

    /** The first file is opened, or compared; more are compared with what is there then. */
    async takeAll(files: File[], purpose: Purpose, trust = false): Promise<void> {
        for (const [i, file] of files.entries()) await this.take(file, i > 0 && this.files.length ? 'compare' : purpose, trust);
        if (files.length > 2 && this.files.length === 2) this.notices.append(notice('warning', `Results of runs are compared in pairs: B is ${this.files[1].info.name}, the last that was opened.`));
    }

    private async take(file: File, purpose: Purpose, trust = false): Promise<void> {
        this.notices.replaceChildren(notice('info', `Opening ${file.name} …`));
        if (!this.files.length) this.main.replaceChildren();
        try {
            const source = await openSource(file, trust, this.state.level);
            if (purpose === 'compare') await Promise.all([source, ...this.files].map(({ rest }) => rest)), this.compareWith(source);
            else this.adopt(source);
            void source.rest?.then(() => this.files.includes(source) && this.render(), (error) => this.tellFault(messageOf(error)));
        } catch (error) {
            const told = notice('error', messageOf(error));
            if (error instanceof NoDigests) told.append(' ', h('button', { type: 'button', class: 'trust', onclick: () => void this.take(file, purpose, true) }, 'Read it as it is'));
            this.notices.replaceChildren(told);
            if (!this.files.length) this.landing();
            return;
        }
        this.tellWarnings();
    }

    /** Curves are laid over each other, fronts side by side, any number of them; of other results there are two. */
    private compareWith(source: Source): void {
        const why = notComparable(this.files[0], source);
        if (why) {
            source.close();
            throw new Error(why);
        }
        const probe = source.info.probe !== null;
        if (![this.files[0], source].every(takesMany)) this.files.splice(1).forEach((each) => each.close());
        this.files = sort([...this.files, source], ({ info }) => Number(!!info.trackers)); // these stand on the fronts of others
        this.shown = '';
        if (probe) return this.set(this.state.view || this.state.file ? {} : { view: 'curves' });
        if (this.files.length > 2 || source.info.trackers || this.files[1].info.trackers) return this.set(this.state.file === 'difference' ? { file: '' } : {});
        const [{ id, differs }] = viewsOf(this);
        if (this.state.file || (this.state.view && this.state.view !== id)) return this.set({}); // as a link says, or what was chosen before
        if (id !== 'workbench') return this.set(differs?.(this) ? { view: id, file: 'difference' } : id === 'sweep' ? {} : { view: 'compare' });
        const { pairs } = pairsOf(this.files[0], source);
        const { show, series } = chosenOf(this)!;
        const [first, level] = (pairs.find((each) => each.id === `${show.id}|${series.owner}`) ?? pairs[0])?.id.split('|') ?? [];
        this.set(first ? { view: id, file: 'difference', show: first, level } : { view: 'compare' });
    }

    private adopt(source: Source): void {
        const again = this.files.length > 0;
        this.files.forEach((each) => each.close());
        this.files = [source];
        this.shown = '';
        // the places of another file's view mean nothing here
        if (again && source.info.reduced === '' && titleOf(source) !== this.facts.dataset.title) this.state = { theme: this.state.theme };
        this.facts.dataset.title = titleOf(source);
        this.compareButton.hidden = source.info.validation !== null;
        this.keepState();
        this.render();
    }

    private flip(): void { if (this.turns.length > 1) this.turn(this.turns[(this.turns.indexOf(this.state.file || 'a') + 1) % this.turns.length]); }

    /** Another file, and the level of it that belongs to the one that is shown. Addresses mean something else where its data lie elsewhere; of a difference they are those of the first. */
    private turn(file: string): void {
        const [from, to] = [this.state.file || 'a', file].map((each) => (['a', 'difference'].includes(each) ? 'a' : ('b' as const)));
        const alone = this.shown === 'compare' && file !== 'difference' ? { view: '' } : {}; // it shows both
        if (from === to) return this.set({ file, ...alone });
        const own = this.files.length === 2 ? pairsOf(this.files[0], this.files[1]).pairs.find((each) => each[from].owner === this.state.level) : null;
        const same = new Set(this.files.map(({ info }) => placed(info, false))).size === 1;
        this.set({ file, ...alone, ...(own ? { level: own[to].owner } : {}), ...(same ? {} : { sel: '', x: '' }) });
    }

    private tellWarnings(): void {
        this.notices.replaceChildren(...this.files.flatMap(({ info }, i) => info.warnings.map((text) => notice('warning', i > 0 ? `${info.name}: ${text}` : text))));
    }

    private tellFault(message: string): void { if (![...this.notices.children].some((each) => each.textContent === message)) this.notices.append(notice('error', message)); }

    private landing(): void {
        const lines = h('pre', {}, 'cachetally run lu n=128 --machine schulz2002 -o lu.h5\ncachetally sweep lu --preset paper-2002 -o sweep.h5\ncachetally probe --machine generic3 -o probe.h5');
        const text = 'or press Open. Files of any size are read in place, on this computer: nothing is sent anywhere.';
        this.main.replaceChildren(h('div', { class: 'landing' }, h('h1', {}, 'Drop a result file here'), h('p', {}, text), lines));
    }

    private render(): void {
        const kinds = viewsOf(this);
        const kind = kinds.find((each) => each.id === this.state.view) ?? kinds[0];
        const key = `${this.source.info.name}${this.at}`;
        this.fillSwitch(kind);
        this.fillTabs(kinds, kind);
        if (!this.current || kind.id !== this.shown || key !== this.shownFile) {
            this.shown = kind.id;
            this.shownFile = key;
            this.current = kind.make(this);
            this.main.replaceChildren(this.current.element);
        }
        this.fillFacts();
        this.current.update?.();
    }

    /** Which of the files is shown, or by how much two differ: by the view itself, or beside each other. */
    private fillSwitch(kind: ViewKind): void {
        const has = (i: number) => kind.has({ source: this.files[i], others: this.files.filter((_, other) => other !== i) });
        const turns = bothAtOnce.includes(kind.id) && kind.id !== 'compare' ? [] : range(this.files.length).filter(has);
        const both = turns.length > 1;
        const choose = (file: string) => (file !== 'difference' || kind.differs?.(this) ? this.turn(file) : this.set({ file: '', view: 'compare' }));
        const options = turns.map((i): [string, string, string] => [letterOf(i), letterOf(i).toUpperCase(), this.files[i].info.name]);
        this.turns = [...options.map(([file]) => file), ...(both && kind.differs?.(this) ? ['difference'] : [])];
        if (this.files.length === 2) options.push(['difference', 'B − A', 'by how much the second has more']);
        const now = kind.id === 'compare' || (both && kind.differs?.(this) && this.state.file === 'difference') ? 'difference' : letterOf(this.at);
        fill(this.switch, ...(both ? [segmented('File', options, now, choose)] : []));
    }

    private fillTabs(kinds: ViewKind[], chosen: ViewKind): void {
        const tab = (kind: ViewKind) => {
            const attributes = { 'aria-selected': String(kind === chosen), tabindex: kind === chosen ? 0 : -1, 'aria-controls': 'view', 'data-view': kind.id };
            return h('button', { type: 'button', role: 'tab', ...attributes, onclick: () => this.set({ view: kind.id }) }, kind.title);
        };
        fill(this.tabs, ...kinds.map(tab));
    }

    private fillFacts(): void {
        const { info } = this.source;
        const { run, campaign, failures, sweep } = info;
        const parts = [info.name, info.reduced ? 'reduced' : bytes(info.bytes)];
        if (run) parts.push(`${full(run.references)} references`, `${full(run.cycles)} cycles`);
        if (campaign) parts.push(`${full(campaign.numbers.length)} points`, `${full(failures.count)} failed`);
        if (sweep) parts.push(`${full(sweep.rows.count)} cells on ${sweep.link}`);
        if (this.state.view && this.state.view !== this.shown) parts.push(`there is no view “${this.state.view}” of it`);
        document.title = `${titleOf(this.source)} – cachetally`;
        const notes = [parts.join(' · '), ...(bothAtOnce.includes(this.shown) || this.state.file === 'difference' ? this.others : []).map((other) => `${other.info.name}: ${titleOf(other)}`)];
        this.facts.replaceChildren(h('h1', {}, titleOf(this.source)), ...notes.map((text) => h('span', { class: 'note' }, text)));
    }

    private switchTheme(): void {
        this.keepState({ theme: document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark' });
        this.applyTheme();
    }

    private applyTheme(): void {
        const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
        document.documentElement.dataset.theme = this.state.theme === 'dark' || this.state.theme === 'light' ? this.state.theme : system;
        this.current?.update?.();
    }

    /** For tests. */
    readonly answers = { answerOf, sentenceOf, tilesOf };
    readonly shade = shade;
    readonly frames = frames;

    /** Resolves when nothing is being read and no hand moves; for tests and measurements. */
    async quiet(): Promise<void> {
        do await new Promise((resolve) => setTimeout(resolve));
        while (isReading() || Hand.moves());
    }
}

/** Why a result is not laid beside the first; empty where it is. */
function notComparable({ info: a }: Source, { info: b }: Source): string {
    const scores = [a, b].find((each) => each.validation);
    if (scores) return `${scores.name} has scores of probes, which are not compared.`;
    const experiment = [a, b].find((each) => each.intrusion);
    if (experiment && !(a.intrusion && b.intrusion)) return `${experiment.name} is of an intrusion experiment, which is compared with others alone.`;
    const tracked = [a, b].find((each) => each.trackers);
    if (tracked && ![a, b].every((each) => each.trackers ?? each.sweep)) return `${tracked.name} is of trackers, which are compared with others and with sweeps alone.`;
    if ((a.probe !== null) === (b.probe !== null)) return '';
    return `${b.name} cannot be compared with ${a.name}: ${a.probe ? 'it has no curves of probes' : 'it has curves of probes alone'}.`;
}

const logo = (): HTMLElement => h('span', { class: 'logo', 'aria-hidden': 'true' }, h('i'), h('i'), h('i'));

const notice = (kind: 'info' | 'warning' | 'error', text: string): HTMLElement => h('div', { class: `notice ${kind}`, role: kind === 'error' ? 'alert' : undefined }, text);

const held = [...document.querySelectorAll<HTMLElement>('script[id^="cachetally-result"]')].filter(({ textContent }) => textContent?.trim());

/** A file that is embedded in a report. */
function embedded(element: HTMLElement): File {
    const bytes = bytesOf(element.textContent!.trim());
    element.textContent = '';
    return new File([bytes], element.dataset.name ?? 'result.h5');
}

const page = new Page();
Object.assign(window, { cachetally: page });
// the page is loaded once its files are shown: a document that is not closed holds that up
const frame = document.body.appendChild(h('iframe', { hidden: true }));
frame.contentDocument!.open();
void page.takeAll(held.map(embedded), 'open', held.some(({ dataset: { trust } }) => trust !== undefined)).then(() => page.quiet()).finally(() => (frame.contentDocument!.close(), frame.remove()));
