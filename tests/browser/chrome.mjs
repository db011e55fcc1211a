// A browser for tests: Debian's Chromium, spoken to through a pipe in its own protocol (CDP), so that nothing needs to be installed beside node.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const flags = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--disable-extensions',
    '--disable-default-apps',
    '--hide-scrollbars',
    '--mute-audio',
    '--disable-dev-shm-usage',
    '--remote-debugging-pipe',
];

export class Chrome {
    #next = 1;
    #waiting = new Map();
    #listeners = [];
    #rest = '';

    constructor(program) {
        this.profile = mkdtempSync(join(tmpdir(), 'cachetally-chrome-'));
        this.process = spawn(program, [...flags, `--user-data-dir=${this.profile}`, 'about:blank'], {
            stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
        });
        this.process.on('exit', () =>
            this.#waiting.forEach(({ reject }) => reject(new Error('the browser has ended'))),
        );
        this.process.stdio[4].setEncoding('utf8');
        this.process.stdio[4].on('data', (data) => this.#take(data));
    }

    #take(text) {
        const parts = (this.#rest + text).split('\0');
        this.#rest = parts.pop();
        for (const part of parts) {
            const message = JSON.parse(part);
            if (message.id === undefined) {
                this.#listeners.forEach((listen) => listen(message));
                continue;
            }
            const { resolve, reject } = this.#waiting.get(message.id) ?? {};
            this.#waiting.delete(message.id);
            if (message.error) reject?.(new Error(message.error.message));
            else resolve?.(message.result);
        }
    }

    send(method, params = {}, sessionId = undefined) {
        const id = this.#next++;
        this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0');
        return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    }

    listen(listener) {
        this.#listeners.push(listener);
    }

    async page(width = 1280, height = 900) {
        const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
        const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
        const page = new Page(this, sessionId, targetId);
        await page.prepare(width, height);
        return page;
    }

    async close() {
        const ended = new Promise((resolve) => this.process.on('exit', resolve));
        this.send('Browser.close').catch(() => {});
        const timer = setTimeout(() => this.process.kill('SIGKILL'), 3000);
        await ended;
        clearTimeout(timer);
        rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
    }
}

export class Page {
    /** All that the page told its console as an error, and exceptions. */
    errors = [];

    constructor(chrome, session, target) {
        this.chrome = chrome;
        this.session = session;
        this.target = target;
        chrome.listen((message) => this.#hear(message));
    }

    #hear({ method, params, sessionId }) {
        if (sessionId !== this.session) return;
        if (method === 'Runtime.exceptionThrown')
            this.errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
        if (method === 'Runtime.consoleAPICalled' && (params.type === 'error' || params.type === 'warning'))
            this.errors.push(params.args.map((each) => each.value ?? each.description).join(' '));
        if (method === 'Log.entryAdded' && params.entry.level === 'error') this.errors.push(params.entry.text);
        if (method === 'Page.loadEventFired') this.loaded?.();
    }

    send(method, params) {
        return this.chrome.send(method, params, this.session);
    }

    async prepare(width, height) {
        for (const domain of ['Page', 'Runtime', 'Log', 'DOM']) await this.send(`${domain}.enable`);
        await this.size(width, height);
    }

    size(width, height, mobile = false) {
        return this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile });
    }

    scheme(value) {
        return this.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] });
    }

    async open(url) {
        const loaded = new Promise((resolve) => (this.loaded = resolve));
        await this.send('Page.navigate', { url });
        await loaded;
    }

    /** The value of an expression; promises are waited for. */
    async get(expression) {
        const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
            expression,
            awaitPromise: true,
            returnByValue: true,
        });
        if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
        return result.value;
    }

    async until(expression, what, milliseconds = 60000) {
        const end = Date.now() + milliseconds;
        while (Date.now() < end) {
            const value = await this.get(expression);
            if (value) return value;
            await new Promise((resolve) => setTimeout(resolve, 20));
        }
        throw new Error(
            `waited in vain for ${what}; on the page: ${(await this.get('document.body.innerText')).slice(0, 400)}`,
        );
    }

    /** Gives files to the page as if a person had chosen them. */
    async choose(...files) {
        const expression = `document.querySelector('input[type=file]')`;
        await this.until(`!!window.cachetally && !!${expression}`, 'the page');
        const { result } = await this.send('Runtime.evaluate', { expression });
        await this.send('DOM.setFileInputFiles', { objectId: result.objectId, files });
    }

    async mouse(type, x, y, more = {}) {
        await this.send('Input.dispatchMouseEvent', { type, x, y, button: 'none', ...more });
    }

    async click(x, y) {
        await this.mouse('mousePressed', x, y, { button: 'left', clickCount: 1 });
        await this.mouse('mouseReleased', x, y, { button: 'left', clickCount: 1 });
    }

    async key(key, code = key, text = undefined) {
        await this.send('Input.dispatchKeyEvent', { type: text ? 'keyDown' : 'rawKeyDown', key, code, text });
        await this.send('Input.dispatchKeyEvent', { type: 'keyUp', key, code });
    }

    async screenshot(path, whole = true) {
        const { data } = await this.send('Page.captureScreenshot', {
            format: 'png',
            captureBeyondViewport: whole,
            ...(whole ? { clip: await this.#extent() } : {}),
        });
        writeFileSync(path, Buffer.from(data, 'base64'));
    }

    async #extent() {
        const { cssContentSize } = await this.send('Page.getLayoutMetrics');
        return { x: 0, y: 0, width: cssContentSize.width, height: Math.min(cssContentSize.height, 2400), scale: 1 };
    }

    close() {
        return this.chrome.send('Target.closeTarget', { targetId: this.target });
    }
}
