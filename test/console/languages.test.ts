import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole } from '../support/browser.ts';
import { fillScreens, screensOf, type Seen } from '../support/screens.ts';
import { startServer, type TestServer } from '../support/server.ts';

const GERMAN: Record<string, string> = JSON.parse(
  readFileSync(new URL('../../src/console/texts/de.json', import.meta.url), 'utf8'),
);
/** Names and values of what is shown. */
const DATA = new Set(['product', 'place', 'true']);
/** Texts that are English alone. */
const ENGLISH = new Set(Object.keys(GERMAN).filter((key) => !Object.values(GERMAN).includes(key) && !DATA.has(key)));
/** English, but for what a decoder's error says. */
const isEnglish = (text: string): boolean =>
  ENGLISH.has(text) || (/\b(?:the|of|and|with|this)\b/.test(text) && !text.includes('TypeError'));

let server: TestServer;
let seen: Seen;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
  seen = await fillScreens(server);
});
afterAll(() => server.stop());

/** What a reader is shown or told on the page, but for code. */
const TEXTS = `[...document.body.querySelectorAll('*')]
  .filter((element) => element.closest('code, pre, kbd, script, style, [translate=no], .cm-editor') === null)
  .flatMap((element) => [
    ...['title', 'placeholder', 'aria-label'].map((name) => element.getAttribute(name) ?? ''),
    ...[...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.textContent),
  ])
  .map((text) => text.trim())
  .filter((text) => text !== '')`;
const textsOf = (page: Page): Promise<string[]> => page.evaluate<string[]>(TEXTS);

describeInBrowser('the console in German', () => {
  test('is chosen in the account menu, and no screen says anything in English', async () => {
    const page = await openConsole(server, '/devices');
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('button', { name: 'Language and times…' }).click();
    await page.getByRole('dialog').getByRole('combobox').first().selectOption('de');
    await page.getByRole('heading', { name: 'Geräte' }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('de');
    const found: Record<string, string[]> = {};
    for (const { name, path } of screensOf(seen)) {
      await page.goto(`${server.url}/console${path}`);
      await page.waitForLoadState('networkidle');
      await expect.poll(async () => (await textsOf(page)).length, { message: name }).toBeGreaterThan(8);
      const left = (await textsOf(page)).filter(isEnglish);
      if (left.length > 0) found[name] = left;
    }
    expect(found).toEqual({});
    await page.evaluate('localStorage.clear()');
  });

  test('is that of a browser that asks for it; numbers and times are as that language has them', async () => {
    const page = await openConsole(server, '/devices', { locale: 'de-AT' });
    await page.getByRole('heading', { name: 'Geräte' }).waitFor();
    await page.goto(`${server.url}/console/devices/${seen.device}`);
    await page
      .getByRole('button', { name: 'Eigener …' })
      .or(page.getByRole('button', { name: 'Eigene …' }))
      .first()
      .waitFor();
    expect(await page.evaluate('document.documentElement.lang')).toBe('de');
  });
});
