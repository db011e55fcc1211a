// SPDX-License-Identifier: BSD-3-Clause
// Browsers for tests: Debian's Chromium and Firefox, driven by playwright-core; and what playwright-core does not have in one call.
// Neither asks anybody in the network for anything. Playwright adds flags of its own, and a profile that lives as long as the browser.
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
];

/** Chromium, headless; playwright-core is taken only now, when it has been installed (install.mjs). */
export async function launchChromium(program) {
    const { chromium } = await import('playwright-core');
    return chromium.launch({ executablePath: program, args: flags, timeout: 120000 });
}

/**
 * Firefox, headless, in a home of its own. Playwright's usual way needs a Firefox with its patches; by this channel, which its documentation
 * does not have, it speaks to any by the protocol that browsers share (WebDriver BiDi).
 */
export async function launchFirefox(program, home) {
    const { firefox } = await import('playwright-core');
    return firefox.launch({
        executablePath: program,
        channel: 'moz-firefox',
        args: ['--no-remote'],
        env: { ...process.env, HOME: home },
        firefoxUserPrefs: {
            'app.normandy.enabled': false,
            'network.captive-portal-service.enabled': false,
            'toolkit.telemetry.reportingpolicy.firstRun': false,
        },
        timeout: 120000,
    });
}

/** A new page; all that it tells its console as an error or a warning, and exceptions, are added to the errors. */
export async function openPage(browser, errors, options = {}) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
    page.setDefaultTimeout(60000);
    page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) errors.push(message.text());
    });
    page.on('pageerror', (error) => errors.push(error.stack ?? String(error)));
    page.on('crash', () => errors.push('the page has crashed'));
    return page;
}

/**
 * Waits until an expression is true; its value. Says what was waited for, and what the page showed instead. The page itself looks: a question
 * from outside takes the browser longer than most answers. (Playwright's own way puts a large script into each page, and is slower.)
 */
export async function until(page, expression, what, timeout = 60000) {
    const value = await page.evaluate(
        ([text, patience]) =>
            new Promise((resolve, reject) => {
                const end = performance.now() + patience;
                const look = () => {
                    try {
                        const found = (0, eval)(text);
                        if (found || performance.now() > end) resolve(found || null);
                        else setTimeout(look, 5);
                    } catch (error) {
                        reject(error);
                    }
                };
                look();
            }),
        [expression, timeout],
    );
    if (value) return value;
    throw new Error(`waited in vain for ${what}; on the page: ${(await page.innerText('body')).slice(0, 400)}`);
}
