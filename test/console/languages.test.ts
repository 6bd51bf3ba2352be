import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openConsole } from '../support/browser.ts';
import { fillScreens, screensOf, type Seen } from '../support/screens.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

type Entry = string | Record<string, string>;
const GERMAN: Record<string, Entry> = JSON.parse(
  readFileSync(new URL('../../src/console/texts/de.json', import.meta.url), 'utf8'),
);
/** Names and values of what is shown. */
const DATA = new Set(['product', 'place', 'true']);
const formsOf = (entry: Entry): string[] => (typeof entry === 'string' ? [entry] : Object.values(entry));
const ALL_GERMAN = new Set(Object.values(GERMAN).flatMap(formsOf));
/** Texts that are English alone. */
const ENGLISH = new Set(Object.keys(GERMAN).filter((key) => !ALL_GERMAN.has(key) && !DATA.has(key)));
/** What an English text with slots looks like once they are filled; not where the German one might look the same. */
const PATTERNS = [...ENGLISH].flatMap((key) => {
  if (!/\{\w+\}/.test(key) || !/\p{Ll}{3}/u.test(key.replaceAll(/\{\w+\}/g, ''))) return [];
  const pieces = key.split(/\{\w+\}/).map((piece) => piece.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(`^${pieces.join('.+')}$`);
  return formsOf(GERMAN[key]!).some((text) => pattern.test(text)) ? [] : [pattern];
});
/** English, but for what a decoder's error says, and the name of the operator's token. */
const isEnglish = (text: string): boolean =>
  ENGLISH.has(text) ||
  (PATTERNS.some((pattern) => pattern.test(text)) && !text.startsWith('first token')) ||
  (/\b(?:the|of|and|with|this)\b/.test(text) && !text.includes('TypeError'));
/** Words that no German text has, where nothing that is shown is called so. */
const ENGLISH_WORDS =
  /\b(?:the|of|and|with|this|are|is|has|have|it|them|devices?|values?|calls?|lines?|fields?|days?|goes|go|for|selected|once|times)\b/;

/** Without the names that the helpers of tests give. */
const withoutNames = (text: string): string => text.replaceAll(/device [a-z]+(?:-\d)?/g, '');

let server: TestServer;
let seen: Seen;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
  seen = await fillScreens(server);
});
afterAll(() => server.stop());

/** What a reader is shown or told on the page, but for code. */
const TEXTS = `[...document.body.querySelectorAll('*')]
  .filter((element) => element.closest('code, pre, kbd, noscript, script, style, [translate=no], .cm-editor') === null)
  .flatMap((element) => [
    ...['title', 'placeholder', 'aria-label'].map((name) => element.getAttribute(name) ?? ''),
    ...[...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.textContent),
  ])
  .map((text) => text.trim())
  .filter((text) => text !== '')`;
/** The same of whole paragraphs and the like, whose numbers are elements of their own. */
const BLOCKS = `[...document.body.querySelectorAll('p, li, dt, dd, h1, h2, h3, button, a, label, th, td, option, small, [role=status]')]
  .filter((element) => element.closest('code, pre, noscript, [translate=no]') === null && element.querySelector('select, input, code') === null)
  .map((element) => element.textContent.replaceAll(/\\s+/g, ' ').trim())`;
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

  test('counts things in German in every dialog that does', async () => {
    const halls = { fields: { wert: 'FLOAT' }, serialNumbers: ['h-1', 'h-2', 'h-3'], input: { name: 'Halle' } };
    const { id, deviceIds, webhookId } = await createProduct(server, halls);
    await createProduct(server, { fields: { anders: 'FLOAT' }, input: { name: 'Keller' } });
    await server.gql('mutation ($id: ID!) { updateDevice(id: $id, input: { tags: ["alt"] }) { id } }', {
      id: deviceIds[0],
    });
    await server.record(deviceIds[0]!, [
      { field: 'wert', value: 1, timestamp: 1_767_225_600 },
      { field: 'wert', value: 2, timestamp: 1_767_225_660 },
    ]);
    const found: Record<string, string[]> = {};
    const page = await openConsole(server, `/devices?product=${id}`, { locale: 'de-DE' });
    const look = async (name: string, ready: Locator): Promise<void> => {
      await ready.waitFor();
      const said = [...(await textsOf(page)), ...(await page.evaluate<string[]>(BLOCKS))];
      const left = said.filter((text) => isEnglish(text) || ENGLISH_WORDS.test(withoutNames(text)));
      if (left.length > 0) found[name] = [...new Set(left)];
    };
    const dialog = page.getByRole('dialog');
    const close = () => dialog.getByRole('button', { name: 'Abbrechen' }).click();
    const bulk = page.getByRole('region', { name: 'Ausgewählte Geräte' });

    await page.getByRole('checkbox', { name: 'device h-1' }).check();
    await look('one chosen', bulk.getByText('1 Gerät ausgewählt'));
    for (const name of ['h-2', 'h-3']) await page.getByRole('checkbox', { name: `device ${name}` }).check();
    await look('three chosen', bulk.getByText('3 Geräte ausgewählt'));
    await bulk.getByRole('textbox').fill('alt');
    await bulk.getByRole('button', { name: 'Schlagwort' }).click();
    await look('tag', dialog.getByText('Es ändert 2 Geräte. 1 Gerät hat es schon.'));
    await close();
    await bulk.getByRole('combobox', { name: 'Produkt' }).selectOption({ label: 'Keller' });
    await look('move', dialog.getByText('2 Werte gehen sofort, endgültig.'));
    await close();
    await bulk.getByRole('button', { name: 'Löschen' }).click();
    await look('delete devices', dialog.getByText('2 Werte gehen mit ihnen, endgültig.'));
    await close();
    await page.getByRole('button', { name: 'Importieren' }).click();
    await look('import devices', dialog.getByRole('textbox', { name: 'CSV' }));
    await dialog.getByRole('textbox', { name: 'CSV' }).fill('serialNumber,name\nh-1,Tor\nh-9,Dach');
    await dialog.getByRole('button', { name: 'Vorschau' }).click();
    await look('import preview', dialog.getByRole('term').first());
    await dialog.getByRole('button', { name: 'Importieren', exact: true }).click();
    await look('imported', dialog.getByRole('heading', { name: 'Geräte importiert' }));

    await page.goto(`${server.url}/console/products/${id}`);
    await page.getByRole('button', { name: 'wert entfernen' }).click();
    await look('remove a field', dialog.getByText('2 Werte von 4 Geräten werden gelöscht.'));
    await dialog.getByRole('button', { name: 'Behalten' }).click();
    await page.getByRole('button', { name: 'Mehr' }).first().click();
    await page.getByRole('button', { name: 'Löschen' }).click();
    await look('delete a product', dialog.getByText('4 Geräte gehen mit ihm, und 2 Werte;'));

    const body = JSON.stringify(['u-1', 'u-2'].map((device) => ({ device, field: 'wert', value: 4 })));
    const decoder = 'function Decoder(request) { return JSON.parse(request.body); }';
    await server.gql(
      'mutation ($id: ID!, $source: String!) { saveDecoder(productId: $id, source: $source) { version } }',
      {
        id,
        source: decoder,
      },
    );
    await fetch(`${server.url}/integrations/api/${webhookId}/`, { method: 'POST', body });
    await page.goto(`${server.url}/console/devices`);
    await look('banner', page.getByText('2 unbekannte Geräte haben gesendet:'));
    await page.goto(`${server.url}/console/unknown`);
    await page.getByRole('checkbox', { name: 'Alle' }).check();
    await look('unknown', page.getByRole('button', { name: '2 aufnehmen', exact: true }));
    await page.getByRole('button', { name: '2 aufnehmen', exact: true }).click();
    await look('adopt', dialog.getByText('2, die der Webhook von Halle genannt hat'));
    await dialog.getByRole('button', { name: 'Aufnehmen', exact: true }).click();
    await look('adopted', page.getByText('2 aufgenommen'));

    await page.goto(`${server.url}/console/import?device=${deviceIds[0]}`);
    const buffer = Buffer.from('Zeit;Wert\n2026-01-02 00:00;21,5\n2026-01-02 00:10;22\n');
    await page.locator('input[type=file]').setInputFiles({ name: 'halle.csv', mimeType: 'text/csv', buffer });
    await look('import values', page.getByText('CSV mit Strichpunkten, 2 Spalten'));
    await page.getByRole('button', { name: 'Importieren', exact: true }).last().click();
    await look('imported values', page.getByRole('heading', { name: 'Importiert' }));
    expect(found).toEqual({});
  });
});
