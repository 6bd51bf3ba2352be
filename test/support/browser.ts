import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { ADMIN_TOKEN } from './server-process.ts';
import { findChromium } from './tools.ts';

/** null: there is none, and what needs one is left out (never in CI). */
const CHROMIUM = findChromium();

/**
 * Features of Chromium that are off. The suggestions of the address bar are two pages of their own in every window, also
 * where nothing is drawn: 1.5 of the 2.4 seconds of the processor that a window takes. The others are those that Playwright
 * turns off, as the last list replaces those before it.
 */
const DISABLED = [
  'WebUIOmniboxPopup,WebUIOmniboxAimPopup,AimEnabled,AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades,LensOverlay,MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,PaintHolding',
  'PreconnectToSearch,ThirdPartyStoragePartitioning,Translate',
];

let browser: Browser | null = null;
const complaints: string[] = [];

/** A page, the server it shows, and what its console may say. */
interface Window {
  page: Page;
  url: string;
  signedIn: boolean;
  phone: boolean;
  locale: string;
  expects: RegExp | undefined;
  /** Names of the GraphQL operations that it has asked. */
  asked: Set<string>;
}

const open = new Map<Page, Window>();
/** Those that tests have left: what was loaded and compiled there need not be again, which is most of what a new one costs. */
let left: Window[] = [];

interface PageOptions {
  /** With the operator's session in its cookie; false: nobody is signed in. Left out: true. */
  signedIn?: boolean;
  /** As large as a phone, and touched. */
  phone?: boolean;
  dark?: boolean;
  /** Of the browser; en-GB if left out. */
  locale?: string;
  /** Mistakes of the page that the test provokes: what its console may say. */
  expects?: RegExp;
}

/**
 * Tests in a real browser, closed again after them. Each test fails when its pages asked another host for anything, broke
 * the content security policy, or threw.
 */
export function describeInBrowser(name: string, tests: () => void): void {
  describe.skipIf(CHROMIUM === null)(name, () => {
    beforeAll(async () => {
      // Root, as in a container, has no sandbox to go into.
      const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
      args.push(`--disable-features=${DISABLED.join(',')}`);
      browser = await chromium.launch({ executablePath: CHROMIUM!, args });
    });
    afterEach(async ({ task }) => {
      for (const page of open.keys()) await leave(page, task.result?.state !== 'fail');
      expect(complaints.splice(0)).toEqual([]);
    });
    afterAll(async () => {
      left = [];
      await browser?.close();
    });
    tests();
  });
}

/** A window on an address of the console, such as `/devices`, of the server at `url`, which remembers no earlier one. */
export async function openConsole(
  { url }: { url: string },
  path: string,
  { signedIn = true, phone = false, dark = false, locale = 'en-GB', expects }: PageOptions = {},
): Promise<Page> {
  const at = left.findIndex((one) => signedIn && one.url === url && one.phone === phone && one.locale === locale);
  const window = at === -1 ? await openWindow({ url, signedIn, phone, locale }) : left.splice(at, 1)[0]!;
  const { page } = window;
  window.expects = expects;
  window.asked.clear();
  open.set(page, window);
  await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
  if (signedIn) {
    const session = { name: 'inlet_session', value: ADMIN_TOKEN, url, httpOnly: true, sameSite: 'Strict' } as const;
    await page.context().addCookies([session]);
  }
  await page.goto(`${url}/console${path}`);
  return page;
}

/** Names of the GraphQL operations that a page of this test has asked, however often. */
export const operationsOf = (page: Page): string[] => [...open.get(page)!.asked].sort();

/** Whether nothing sticks out at the side. */
export const fitsInWidth = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth');

/** A window on a page of another server, whose mistakes are none of the console's. */
export async function openElsewhere(url: string): Promise<Page> {
  const context = await browser!.newContext();
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  open.set(page, { page, url, signedIn: false, phone: false, locale: '', expects: undefined, asked: new Set() });
  await page.goto(url);
  return page;
}

async function openWindow(options: Pick<Window, 'url' | 'signedIn' | 'phone' | 'locale'>): Promise<Window> {
  const { url, phone, locale } = options;
  const context = await browser!.newContext({
    viewport: phone ? { width: 390, height: 844 } : { width: 1280, height: 800 },
    deviceScaleFactor: phone ? 2 : 1,
    hasTouch: phone,
    isMobile: phone,
    timezoneId: 'Europe/Berlin',
    locale,
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const window: Window = { ...options, page, expects: undefined, asked: new Set() };
  page.on('pageerror', (error) => complaints.push(`threw: ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    // What is refused or cannot be reached is told by the page itself.
    if (message.type() !== 'error' || /^Failed to load resource|WebSocket connection/.test(text)) return;
    if (window.expects?.test(text) !== true) complaints.push(`console: ${text}`);
  });
  page.on('request', (request) => {
    const asked = new URL(request.url());
    if (asked.protocol.startsWith('http') && asked.origin !== new URL(url).origin)
      complaints.push(`asked ${asked.origin}`);
    const [, operation] = /"query":"\s*(?:query|mutation) (\w+)/.exec(request.postData() ?? '') ?? [];
    if (operation !== undefined) window.asked.add(operation);
  });
  return window;
}

/**
 * A test has done with a window. Where somebody was signed in another may have it, without anything done there; unless
 * the test failed, perhaps with a finger or a button down: tried again it would begin with that.
 */
export async function leave(page: Page, succeeded = true): Promise<void> {
  const window = open.get(page)!;
  open.delete(page);
  const isEmpty = succeeded && window.signedIn && (await emptied(window).catch(() => false));
  if (isEmpty) left.push(window);
  else await page.context().close();
}

async function emptied({ page, url }: Window): Promise<true> {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.mouse.move(-1, -1);
  // Of the same origin, whose storage can be cleared there, but not the console, which would write into it.
  await page.goto(`${url}/healthz`, { timeout: 5_000 });
  await page.evaluate('localStorage.clear(); sessionStorage.clear();');
  await page.context().clearCookies();
  return true;
}

/** Keeps what the page looks like as `<INLET_SHOTS>/<name>.png`, for people; without that variable nothing. */
export async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env['INLET_SHOTS'];
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}
