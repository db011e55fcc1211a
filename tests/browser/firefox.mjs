// Firefox for tests, spoken to over its own protocol (Marionette: JSON behind its length, over a local socket), so that nothing needs
// to be installed beside node.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const preferences = {
    'marionette.port': 0,
    'browser.shell.checkDefaultBrowser': false,
    'browser.startup.page': 0,
    'browser.startup.homepage_override.mstone': 'ignore',
    'datareporting.policy.dataSubmissionEnabled': false,
    'toolkit.telemetry.reportingpolicy.firstRun': false,
    'app.update.disabledForTesting': true,
    'app.normandy.enabled': false,
    'network.captive-portal-service.enabled': false,
    'network.connectivity-service.enabled': false,
    'browser.dom.window.dump.enabled': true,
};

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export class Firefox {
    #next = 0;
    #waiting = new Map();
    #rest = Buffer.alloc(0);
    #socket;
    #exceptions = [];

    static async start(program) {
        const firefox = new Firefox();
        firefox.profile = mkdtempSync(join(tmpdir(), 'cachetally-firefox-'));
        const lines = Object.entries(preferences).map(
            (pair) => `user_pref(${pair.map((each) => JSON.stringify(each)).join(', ')});`,
        );
        writeFileSync(join(firefox.profile, 'user.js'), lines.join('\n'));
        firefox.process = spawn(program, ['--headless', '--marionette', '--no-remote', '--profile', firefox.profile], {
            stdio: ['ignore', 'pipe', 'pipe'],
            env: { ...process.env, HOME: firefox.profile, MOZ_HEADLESS_WIDTH: '1280', MOZ_HEADLESS_HEIGHT: '900' },
        });
        for (const stream of [firefox.process.stdout, firefox.process.stderr]) {
            stream.setEncoding('utf8');
            stream.on('data', (text) => firefox.#hear(text));
        }
        try {
            await firefox.#connect(join(firefox.profile, 'MarionetteActivePort'));
            await firefox.send('WebDriver:NewSession', {});
        } catch (error) {
            await firefox.close();
            throw error;
        }
        return firefox;
    }

    /** Exceptions in scripts of pages; those of the browser's own are not ours. */
    #hear(text) {
        for (const line of text.split('\n'))
            if (/^JavaScript error: (file|blob)/.test(line)) this.#exceptions.push(line);
    }

    /** What pages told the console as errors or warnings since they were opened, and exceptions. */
    async errors() {
        return [...(await this.get('window.problems')), ...this.#exceptions];
    }

    async #connect(portFile) {
        for (let tries = 0; !existsSync(portFile); ++tries) {
            if (tries > 600 || this.process.exitCode !== null) throw new Error('Firefox did not start');
            await pause(100);
        }
        await pause(50);
        this.#socket = createConnection(Number(readFileSync(portFile, 'utf8')), '127.0.0.1');
        const greeted = new Promise((resolve, reject) => {
            this.#socket.once('error', reject);
            this.greeted = resolve;
        });
        this.#socket.on('data', (data) => this.#take(data));
        await greeted;
    }

    #take(data) {
        this.#rest = Buffer.concat([this.#rest, data]);
        for (;;) {
            const colon = this.#rest.indexOf(':');
            if (colon < 0) return;
            const end = colon + 1 + Number(this.#rest.subarray(0, colon).toString());
            if (this.#rest.length < end) return;
            const message = JSON.parse(this.#rest.subarray(colon + 1, end).toString());
            this.#rest = this.#rest.subarray(end);
            if (!Array.isArray(message)) {
                this.greeted();
                continue;
            }
            const [, id, error, result] = message;
            const { resolve, reject } = this.#waiting.get(id);
            this.#waiting.delete(id);
            if (error) reject(new Error(error.message));
            else resolve(result);
        }
    }

    send(method, parameters) {
        const id = ++this.#next;
        const text = Buffer.from(JSON.stringify([0, id, method, parameters]));
        this.#socket.write(Buffer.concat([Buffer.from(`${text.length}:`), text]));
        return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    }

    async open(url) {
        await this.send('WebDriver:Navigate', { url });
        await this.get(`(() => {
            window.problems = [];
            for (const kind of ['error', 'warn'])
                console[kind] = (...words) => window.problems.push(words.map(String).join(' '));
            for (const kind of ['error', 'unhandledrejection'])
                window.addEventListener(kind, (event) => window.problems.push(String(event.message ?? event.reason)));
            return true;
        })()`);
    }

    /** The value of an expression; promises are waited for. */
    async get(expression) {
        const script = `return (async () => (${expression}))();`;
        const { value } = await this.send('WebDriver:ExecuteScript', { script, args: [], sandbox: null });
        return value;
    }

    async until(expression, what, milliseconds = 60000) {
        const end = Date.now() + milliseconds;
        while (Date.now() < end) {
            const value = await this.get(expression);
            if (value) return value;
            await pause(50);
        }
        throw new Error(
            `waited in vain for ${what}; on the page: ${(await this.get('document.body.innerText')).slice(0, 400)}`,
        );
    }

    /** Gives a file to the page as if a person had chosen it. */
    async choose(file) {
        await this.until('!!window.cachetally', 'the page');
        const { value } = await this.send('WebDriver:FindElement', {
            using: 'css selector',
            value: 'input[type=file]',
        });
        await this.send('WebDriver:ElementSendKeys', { id: Object.values(value)[0], text: file });
    }

    async screenshot(path) {
        const { value } = await this.send('WebDriver:TakeScreenshot', { full: true });
        writeFileSync(path, Buffer.from(value, 'base64'));
    }

    async close() {
        const ended = new Promise((resolve) => this.process.once('exit', resolve));
        if (this.process.exitCode === null) {
            if (this.#socket) this.send('Marionette:Quit', { flags: ['eForceQuit'] }).catch(() => {});
            const timer = setTimeout(() => this.process.kill('SIGKILL'), 5000);
            await ended;
            clearTimeout(timer);
        }
        this.#socket?.destroy();
        rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
    }
}
