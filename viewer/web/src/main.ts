// SPDX-License-Identifier: BSD-3-Clause
// The page: opens files, shows the views that a file can fill, and keeps the state in the URL.
import './style.css';
import { answerOf, sentenceOf, tilesOf } from './answer';
import type { App, View } from './app';
import { titleOf } from './app';
import { FileFault, Source, Untrusted, warmUp } from './client';
import { h } from './dom';
import { bytes, full } from './numbers';
import { listenForKeys, openKeys, openSearch } from './palette';
import { readyForPaper } from './paper';
import { depth, readHash, writeHash, type State } from './state';
import { shade } from './shading';
import { viewsOf, type ViewKind } from './views';

const root = document.getElementById('app')!;

class Page implements App {
    source!: Source;
    others: Source[] = [];
    state: State = readHash();
    private view: View | null = null;
    private shown = '';
    private keeping = 0;
    /** Whether the state that is kept next is a step of its own. */
    private step = false;
    private readonly main = h('main', { id: 'view' });
    private readonly tabs = h('nav', { class: 'tabs', role: 'tablist', 'aria-label': 'Views' });
    private readonly facts = h('div', { class: 'facts' });
    private readonly notices = h('div', { class: 'notices', role: 'status' });
    private readonly compareButton: HTMLButtonElement;
    private readonly input = h('input', {
        type: 'file',
        accept: '.h5,.hdf5',
        hidden: true,
        'aria-label': 'Result file',
    });
    private purpose: 'open' | 'compare' = 'open';

    constructor() {
        const ask = (purpose: 'open' | 'compare') => {
            this.purpose = purpose;
            this.input.multiple = purpose === 'compare' && this.source?.info.probe !== null;
            this.input.value = '';
            this.input.click();
        };
        this.compareButton = h(
            'button',
            {
                type: 'button',
                hidden: true,
                title: 'Lay a second result beside this one',
                onclick: () => ask('compare'),
            },
            'Compare …',
        );
        this.input.addEventListener('change', () => void this.takeAll([...(this.input.files ?? [])], this.purpose));
        const tool = (text: string, hint: string, onclick: () => void) => h('button', { type: 'button', 'aria-label': hint, title: hint, onclick }, text);
        const header = h(
            'header',
            {},
            h('div', { class: 'brand' }, logo(), 'cachetally'),
            this.facts,
            h(
                'div',
                { class: 'actions' },
                h('button', { type: 'button', class: 'primary', onclick: () => ask('open') }, 'Open …'),
                this.compareButton,
                tool('Search', 'Search (/)', () => this.source && openSearch(this)),
                tool('↶', 'Undo (u)', () => this.undo()),
                tool('Copy link', 'Copy a link to what is shown (c)', () => void this.copyLink()),
                tool('?', 'Keys (?)', openKeys),
                tool('◐', 'Dark or light', () => this.switchTheme()),
            ),
        );
        root.replaceChildren(header, this.notices, this.tabs, this.main, this.input);
        this.applyTheme();
        this.listen();
        this.landing();
    }

    private listen(): void {
        readyForPaper();
        listenForKeys(() => (this.source ? this : null), { u: () => this.undo(), c: () => void this.copyLink() });
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
            this.applyTheme();
            this.view?.update();
        });
        window.addEventListener('hashchange', () => {
            window.clearTimeout(this.keeping);
            this.step = false;
            this.state = readHash();
            this.applyTheme();
            if (this.source) this.render();
        });
        window.addEventListener('filefault', (event) => this.tellFault((event as CustomEvent<string>).detail));
        window.addEventListener('unhandledrejection', (event) => {
            if (event.reason instanceof FileFault) event.preventDefault(); // it was told already
        });
        window.addEventListener('dragover', (event) => {
            event.preventDefault();
            document.body.classList.add('dropping');
        });
        window.addEventListener('dragleave', (event) => {
            if (event.relatedTarget === null) document.body.classList.remove('dropping');
        });
        window.addEventListener('drop', (event) => {
            event.preventDefault();
            document.body.classList.remove('dropping');
            const files = [...(event.dataTransfer?.files ?? [])];
            void this.takeAll(files, event.shiftKey && this.source ? 'compare' : 'open');
        });
    }

    set(change: Partial<State>): void {
        if (!this.step) this.flushState(); // where the last step has moved to
        this.state = { ...this.state, ...change };
        this.step = true;
        this.keepState();
        this.render();
    }

    move(x: string): void {
        this.state = { ...this.state, x };
        this.keepState();
    }

    private undo(): void {
        this.flushState();
        if (depth() > 0) history.back();
    }

    private async copyLink(): Promise<void> {
        this.flushState();
        const told = h('div', { class: 'toast', role: 'status' }, 'Link copied.');
        try {
            await navigator.clipboard.writeText(location.href);
        } catch {
            told.textContent = location.href;
        }
        document.body.append(told);
        window.setTimeout(() => told.remove(), 2500);
    }

    /** Browsers take only so many changes of the URL in a while. What is chosen is a step that Back undoes; moving is none. */
    private keepState(): void {
        window.clearTimeout(this.keeping);
        this.keeping = window.setTimeout(() => this.flushState(), 150);
    }

    private flushState(): void {
        window.clearTimeout(this.keeping);
        writeHash(this.state, this.step);
        this.step = false;
    }

    /** The first file is opened, or compared; more are compared with what is there then. */
    private async takeAll(files: File[], purpose: 'open' | 'compare'): Promise<void> {
        for (const [i, file] of files.entries()) await this.take(file, i > 0 && this.source ? 'compare' : purpose);
    }

    async take(
        file: File | { name: string; bytes: ArrayBuffer },
        purpose: 'open' | 'compare',
        trust = false,
    ): Promise<void> {
        this.notices.replaceChildren(notice('info', `Opening ${file.name} …`));
        try {
            const source = await Source.open(file, trust);
            if (purpose === 'compare') {
                this.compareWith(source);
            } else {
                this.adopt(source);
            }
        } catch (error) {
            const told = notice('error', error instanceof Error ? error.message : String(error));
            if (error instanceof Untrusted) told.append(' ', trustButton(() => void this.take(file, purpose, true)));
            this.notices.replaceChildren(told);
            return;
        }
        this.tellWarnings();
    }

    /** Curves are laid over each other, any number of them; of other results there are two. */
    private compareWith(source: Source): void {
        const alone = [this.source, source].find((each) => aloneBecause(each) !== '');
        if (alone) {
            source.close();
            throw new Error(`${alone.info.name} ${aloneBecause(alone)}.`);
        }
        const probe = this.source.info.probe !== null;
        if (probe !== (source.info.probe !== null)) {
            source.close();
            throw new Error(
                `${source.info.name} cannot be compared with ${this.source.info.name}: ${probe ? 'it has no curves of probes' : 'it has curves of probes alone'}.`,
            );
        }
        if (!probe) this.others.splice(0).forEach((each) => each.close());
        this.others.push(source);
        this.shown = '';
        this.set({ view: probe ? 'curves' : 'compare' });
    }

    private adopt(source: Source): void {
        const again = this.source !== undefined;
        this.source?.close();
        this.others.splice(0).forEach((each) => each.close());
        this.source = source;
        this.shown = '';
        // the places of another file's view mean nothing here
        if (again && source.info.reduced === '' && titleOf(source) !== this.facts.dataset.title)
            this.state = { theme: this.state.theme };
        this.facts.dataset.title = titleOf(source);
        document.title = `${titleOf(source)} – cachetally`;
        this.compareButton.hidden = aloneBecause(source) !== '';
        this.keepState();
        this.render();
    }

    private tellWarnings(): void {
        const list = [...this.source.info.warnings.map((text) => notice('warning', text))];
        for (const { info } of this.others)
            list.push(...info.warnings.map((text) => notice('warning', `${info.name}: ${text}`)));
        this.notices.replaceChildren(...list);
    }

    private tellFault(message: string): void {
        const told = [...this.notices.children].some((each) => each.textContent === message);
        if (!told) this.notices.append(notice('error', message));
    }

    private landing(): void {
        this.main.replaceChildren(
            h(
                'div',
                { class: 'landing' },
                h('h1', {}, 'Drop a result file here'),
                h('p', {}, 'or press Open. Files of any size are read in place, on this computer: nothing is sent anywhere.'),
                h(
                    'pre',
                    {},
                    'cachetally run lu n=128 --machine schulz2002 -o lu.h5\ncachetally sweep lu --preset paper-2002 -o sweep.h5\ncachetally probe --machine generic3 -o probe.h5',
                ),
            ),
        );
    }

    private render(): void {
        const kinds = viewsOf(this);
        const kind = kinds.find((each) => each.id === this.state.view) ?? kinds[0];
        this.fillFacts();
        this.fillTabs(kinds, kind);
        if (this.view && kind.id === this.shown) return this.view.update();
        this.view?.dispose();
        this.shown = kind.id;
        this.view = kind.make(this);
        this.main.replaceChildren(this.view.element);
    }

    private fillTabs(kinds: ViewKind[], chosen: ViewKind): void {
        const tab = (kind: ViewKind) =>
            h(
                'button',
                {
                    type: 'button',
                    role: 'tab',
                    'aria-selected': String(kind === chosen),
                    'aria-controls': 'view',
                    'data-view': kind.id,
                    onclick: () => this.set({ view: kind.id }),
                },
                kind.title,
            );
        const focused = this.tabs.contains(document.activeElement);
        this.tabs.replaceChildren(...kinds.map(tab));
        if (focused) this.tabs.querySelector<HTMLElement>('[aria-selected=true]')?.focus();
    }

    private fillFacts(): void {
        const { info } = this.source;
        const parts = [info.name, bytes(info.bytes)];
        if (info.run) parts.push(`${full(info.run.references)} references`, `${full(info.run.cycles)} cycles`);
        if (info.probe) parts.push(`${info.probe.findings.length} findings`, `${info.probe.curves.length} curves`);
        if (info.intrusion)
            parts.push(`${info.intrusion.rows.length} configurations`, `${full(info.intrusion.cycles)} cycles without monitor`);
        if (info.campaign) parts.push(`${info.campaign.scores.length} scores`);
        if (info.sweep) parts.push(`${info.sweep.cells.length} cells on ${info.sweep.link}`);
        this.facts.replaceChildren(
            h('h1', {}, titleOf(this.source)),
            h('span', { class: 'note' }, parts.join(' · ')),
        );
    }

    private switchTheme(): void {
        const dark = document.documentElement.dataset.theme === 'dark';
        this.state = { ...this.state, theme: dark ? 'light' : 'dark' };
        this.keepState();
        this.applyTheme();
        this.view?.update();
    }

    private applyTheme(): void {
        const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
        const wanted = this.state.theme === 'dark' || this.state.theme === 'light' ? this.state.theme : system;
        document.documentElement.dataset.theme = wanted;
    }

    /** For tests. */
    readonly answers = { answerOf, sentenceOf, tilesOf };
    readonly shade = shade;

    /** For tests and measurements. */
    get current(): View | null {
        return this.view;
    }
}

/** Why a result is not laid beside others; empty where it may be. */
function aloneBecause({ info }: Source): string {
    if (info.intrusion) return 'is of an intrusion experiment, which is compared with its own baseline alone';
    return info.campaign ? 'has scores of probes, which are not compared' : '';
}

function logo(): HTMLElement {
    const box = h('span', { class: 'logo', 'aria-hidden': 'true' });
    box.append(h('i'), h('i'), h('i'));
    return box;
}

function notice(kind: 'info' | 'warning' | 'error', text: string): HTMLElement {
    return h('div', { class: `notice ${kind}`, role: kind === 'error' ? 'alert' : undefined }, text);
}

function trustButton(onclick: () => void): HTMLElement {
    return h('button', { type: 'button', class: 'trust', onclick }, 'Read it as it is');
}

/** The file that is embedded in reports. */
function embedded(): { name: string; bytes: ArrayBuffer; trust: boolean } | null {
    const element = document.getElementById('cachetally-result');
    const text = element?.textContent?.trim() ?? '';
    if (!element || text === '') return null;
    const binary = atob(text);
    const array = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; ++i) array[i] = binary.charCodeAt(i);
    element.textContent = '';
    return {
        name: element.dataset.name ?? 'result.h5',
        bytes: array.buffer,
        trust: element.dataset.trust !== undefined,
    };
}

warmUp();
const page = new Page();
const inside = embedded();
if (inside) void page.take(inside, 'open', inside.trust);
Object.assign(window, { cachetally: page });
