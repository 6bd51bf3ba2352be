import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { ADMIN_TOKEN } from './server-process.ts';

/** Debian's, and where others put it; nothing is ever downloaded. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** null: there is none, and what needs one is skipped (never in CI). */
const CHROMIUM = PLACES.find((path) => existsSync(path)) ?? null;

let browser: Browser | null = null;
const contexts: BrowserContext[] = [];
const complaints: string[] = [];

interface PageOptions {
  /** With the operator's session in its cookie; false: nobody is signed in. Left out: true. */
  signedIn?: boolean;
  /** As large as a phone, and touched. */
  phone?: boolean;
  dark?: boolean;
  /** Mistakes of the page that the test provokes: what its console may say. */
  expects?: RegExp;
}

/**
 * Tests in a real browser, closed again after them. Each test fails when its pages asked another host for anything, broke
 * the content security policy, or threw.
 */
export function describeInBrowser(name: string, tests: () => void): void {
  if (CHROMIUM === null) {
    if (process.env['CI']) throw new Error('Chromium is not installed: apt-get install chromium.');
    console.warn(`Chromium is not installed: ${name} is not tested in a browser (in CI that is an error).`);
  }
  describe.skipIf(CHROMIUM === null)(name, () => {
    beforeAll(async () => {
      // Root, as in a container, has no sandbox to go into.
      const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
      browser = await chromium.launch({ executablePath: CHROMIUM!, args });
    });
    afterEach(async () => {
      for (const context of contexts.splice(0)) await context.close();
      expect(complaints.splice(0)).toEqual([]);
    });
    afterAll(async () => {
      await browser?.close();
    });
    tests();
  });
}

/** A new window on an address of the console, such as `/devices`, of the server at `url`. */
export async function openConsole(
  { url }: { url: string },
  path: string,
  { signedIn = true, phone = false, dark = false, expects }: PageOptions = {},
): Promise<Page> {
  const context = await browser!.newContext({
    viewport: phone ? { width: 390, height: 844 } : { width: 1280, height: 800 },
    deviceScaleFactor: phone ? 2 : 1,
    hasTouch: phone,
    isMobile: phone,
    colorScheme: dark ? 'dark' : 'light',
    timezoneId: 'Europe/Berlin',
    locale: 'en-GB',
    reducedMotion: 'reduce',
  });
  contexts.push(context);
  context.setDefaultTimeout(25_000);
  if (signedIn)
    await context.addCookies([{ name: 'inlet_session', value: ADMIN_TOKEN, url, httpOnly: true, sameSite: 'Strict' }]);
  const page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(`threw: ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    // What is refused or cannot be reached is told by the page itself.
    if (message.type() !== 'error' || /^Failed to load resource|WebSocket connection/.test(text)) return;
    if (expects?.test(text) !== true) complaints.push(`console: ${text}`);
  });
  page.on('request', (request) => {
    const asked = new URL(request.url());
    if (asked.protocol.startsWith('http') && asked.origin !== new URL(url).origin)
      complaints.push(`asked ${asked.origin}`);
  });
  await page.goto(`${url}/console${path}`);
  return page;
}

/** Keeps what the page looks like as `<INLET_SHOTS>/<name>.png`, for people; without that variable nothing. */
export async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env['INLET_SHOTS'];
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}
