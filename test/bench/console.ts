import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { openSqliteOrm } from '../../src/database/open-orm.ts';
import { DeviceSchema } from '../../src/domain/entities/device.ts';
import { SqliteMeasurementStore } from '../../src/measurement-store/sqlite/sqlite-measurement-store.ts';
import { median } from '../support/figures.ts';
import { ADMIN_TOKEN, ServerProcess } from '../support/server-process.ts';

const CHROMIUM = '/usr/bin/chromium';
const YEAR_MINUTES = 525_600;
const BATCH = 10_000;
const LIVE_SECONDS = 10;
const ROUNDS = 5;
const DEVICES = 5_000;
/** Pixels of a frame's scroll: a fast turn of a wheel. */
const SCROLLED = 400;

/**
 * `npm run bench -- console`: what people wait for in the console, in a real browser on a year of minutes. Milliseconds:
 * `first` from the server's answer to the first row of the devices, the median of several: in a new browser profile just
 * after the server's start, again in that profile, and in a new one later; `year` from the click to the chart drawn, `live` the longest frame while 200 values a second come.
 * `busy` and what is told of the scroll through 5,000 devices is processor time of the page, which others on the machine
 * do not lengthen as they do the rest. Kilobytes as packed: `files` of the console and `asked` of GraphQL, for a new profile.
 */
export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-bench-'));
  const path = `${folder}/inlet.db`;
  const env = { DATABASE_URL: `sqlite:${path}`, WRITE_RATE_PER_FIELD: '0' };
  let server = await ServerProcess.start(env);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  try {
    const device = await fill(server.url);
    await server.stop();
    await compact(path);
    const first: Record<string, [ms: number, busy: number][]> = {
      'first, server just started': [],
      'first, again': [],
      'first, new profile': [],
    };
    server = await ServerProcess.start(env);
    for (let round = 0; round < ROUNDS; round += 1) {
      await server.stop();
      server = await ServerProcess.start(env);
      const profile = await newProfile(browser, server.url);
      first['first, server just started']!.push(await firstRow(profile, server.url));
      first['first, again']!.push(await firstRow(profile, server.url));
      await profile.close();
      const later = await newProfile(browser, server.url);
      first['first, new profile']!.push(await firstRow(later, server.url));
      await later.close();
    }
    for (const [scenario, all] of Object.entries(first)) {
      const [ms, busy] = [0, 1].map((at) => median(all.map((one) => one[at]!)));
      tell(scenario, ms, { busy, all });
    }
    const { url } = server;
    const page = await (await newProfile(browser, url)).newPage();
    await page.goto(`${url}/console/devices/${device}`);
    await page.locator('.readout strong').first().waitFor();
    for (let round = 0; round < ROUNDS; round += 1) {
      await toHour(page);
      const busy = await busyMeter(page);
      tell('year', await yearOf(page), { busy: await busy() });
    }
    await page.goto(`${url}/console/devices/${device}?range=hour`);
    await page.locator('.badge[data-state=live]').waitFor();
    tell('live', await longestFrame(page, () => send(url, device)));
    for (const [screen, to] of Object.entries({ '/': 'home', '/devices': 'devices', [`/devices/${device}`]: 'device' }))
      console.log(JSON.stringify({ scenario: `kilobytes, ${to}`, ...(await kilobytesOf(browser, url, screen)) }));
    await addDevices(url);
    tell('scroll', await scrollOf(await (await newProfile(browser, url)).newPage(), url));
  } finally {
    await browser.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function tell(scenario: string, ms: unknown, more: object = {}): void {
  console.log(JSON.stringify({ scenario, ms, ...more }));
}

/** Nothing is cached in it, and the operator is signed in. */
async function newProfile(browser: Browser, url: string): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addCookies([{ name: 'inlet_session', value: ADMIN_TOKEN, url }]);
  return context;
}

async function graphql(url: string, query: string): Promise<any> {
  const headers = { 'Content-Type': 'application/json', Authorization: `Token ${ADMIN_TOKEN}` };
  const answer = await fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });
  return ((await answer.json()) as { data: unknown }).data;
}

const FIELDS = ['a', 'b', 'c', 'd'];

async function fill(url: string): Promise<string> {
  const ask = (query: string): Promise<any> => graphql(url, query);
  const fields = FIELDS.map((identifier) => `{ identifier: "${identifier}", type: FLOAT }`).join(' ');
  const { createProduct } = await ask(`mutation { createProduct(input: { name: "P", fields: [${fields}] }) { id } }`);
  const devices = Array.from({ length: 200 }, (_, i) => `{ name: "device ${i}" }`).join(' ');
  const { createDevices } = await ask(
    `mutation { createDevices(productId: "${createProduct.id}", plan: "unlimited", devices: [${devices}]) { id } }`,
  );
  const device = createDevices[0].id as string;
  const now = Math.floor(Date.now() / 1_000);
  for (let minute = 0; minute < YEAR_MINUTES; minute += BATCH) {
    const count = Math.min(BATCH, YEAR_MINUTES - minute);
    const entries = Array.from({ length: count }, (_, i) => {
      const timestamp = now - (minute + i + 1) * 60;
      return {
        field: 'a',
        timestamp,
        value: Math.round(100 * (20 + 5 * Math.sin(timestamp / 13_750) + Math.random())) / 100,
      };
    });
    await record(url, device, entries);
  }
  return device;
}

/** As an hour later: what was recorded lies in chunks. */
async function compact(path: string): Promise<void> {
  const orm = await openSqliteOrm(path);
  const devices = await orm.em.fork().find(DeviceSchema, {});
  await orm.close();
  const store = await SqliteMeasurementStore.open({ path });
  const keys = devices.map(({ key }) => key);
  await store.compact(keys, Date.now() + 3_600_000);
  await store.stop();
}

async function record(url: string, device: string, entries: unknown[]): Promise<void> {
  const headers = { Authorization: `Token ${ADMIN_TOKEN}` };
  const answer = await fetch(`${url}/v1/devices/${device}/record/`, {
    method: 'POST',
    headers,
    body: JSON.stringify(entries),
  });
  if (answer.status !== 200) throw new Error(await answer.text());
}

const NOTE_FIRST_ROW = `{
  const look = () => {
    if (document.querySelector('table.devices td.name a') !== null) window.firstRow = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}`;

/** Milliseconds to the first row, and the processor time of the page until then. */
async function firstRow(profile: BrowserContext, url: string): Promise<[ms: number, busy: number]> {
  const page = await profile.newPage();
  const busy = await busyMeter(page);
  await page.addInitScript(NOTE_FIRST_ROW);
  await page.goto(`${url}/console/devices`);
  await page.locator('table.devices td.name a').first().waitFor();
  const { all } = await busy();
  await page.waitForTimeout(100);
  const ms = await page.evaluate<number>(
    'Math.round(window.firstRow - performance.getEntriesByType("navigation")[0].responseStart)',
  );
  await page.close();
  return [ms, all];
}

async function toHour(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Hour' }).click();
  await page.locator('.field-chart .chip').waitFor({ state: 'detached' });
}

async function yearOf(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const button = [...document.querySelectorAll('.range-bar button')].find((one) => one.textContent === 'Year');
    const start = performance.now();
    button.click();
    const look = () => {
      if (document.querySelector('.field-chart .chip') === null) requestAnimationFrame(look);
      else requestAnimationFrame(() => resolve(Math.round(performance.now() - start)));
    };
    requestAnimationFrame(look);
  })`);
}

async function send(url: string, device: string): Promise<void> {
  for (let tick = 0; tick < LIVE_SECONDS * 10; tick += 1) {
    const due = performance.now() + 100;
    const at = Date.now();
    const entries = Array.from({ length: 20 }, (_, i) => ({
      field: FIELDS[i % FIELDS.length],
      timestamp: (at - Math.floor(i / FIELDS.length) * 20) / 1_000,
      value: Math.random() * 10,
    }));
    await record(url, device, entries);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
  }
}

async function longestFrame(page: Page, work: () => Promise<void>): Promise<object> {
  await page.evaluate(`{
    window.frames = [];
    let before = performance.now();
    const look = (now) => { window.frames.push(now - before); before = now; requestAnimationFrame(look); };
    requestAnimationFrame((now) => { before = now; requestAnimationFrame(look); });
    window.longTasks = [];
    new PerformanceObserver((list) => list.getEntries().forEach((one) => window.longTasks.push(Math.round(one.duration)))).observe({ type: 'longtask' });
  }`);
  await work();
  return page.evaluate(
    '({ longest: Math.round(Math.max(...frames)), over50: frames.filter((ms) => ms > 50).length, frames: frames.length, longTasks })',
  );
}

/** Processor time in milliseconds: of all tasks of a page, and of scripts, styles and layout among them. */
interface Busy {
  all: number;
  drawn: number;
}

/** Tells the processor time of the page since now. */
async function busyMeter(page: Page): Promise<() => Promise<Busy>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const read = async (): Promise<Busy> => {
    const { metrics } = await session.send('Performance.getMetrics');
    const of = (...names: string[]): number =>
      metrics.reduce((sum, { name, value }) => sum + (names.includes(name) ? 1_000 * value : 0), 0);
    return { all: of('TaskDuration'), drawn: of('ScriptDuration', 'RecalcStyleDuration', 'LayoutDuration') };
  };
  const start = await read();
  return async () => {
    const now = await read();
    return { all: Math.round(now.all - start.all), drawn: Math.round(now.drawn - start.drawn) };
  };
}

async function kilobytesOf(browser: Browser, url: string, screen: string): Promise<object> {
  const profile = await newProfile(browser, url);
  const page = await profile.newPage();
  await page.goto(`${url}/console${screen}`);
  await page.waitForLoadState('networkidle');
  const all = await page.evaluate<{ name: string; bytes: number }[]>(
    'performance.getEntriesByType("resource").map(({ name, encodedBodySize }) => ({ name, bytes: encodedBodySize }))',
  );
  await profile.close();
  const of = (part: string): number =>
    Math.round(all.reduce((sum, { name, bytes }) => sum + (name.includes(part) ? bytes : 0), 0) / 102.4) / 10;
  return { files: of('/console/assets/'), asked: of('/graphql'), requests: all.length };
}

async function addDevices(url: string): Promise<void> {
  const { products } = await graphql(url, '{ products { edges { node { id } } } }');
  for (let made = 200; made < DEVICES; made += 800) {
    const devices = Array.from({ length: 800 }, (_, i) => `{ name: "more ${made + i}" }`).join(' ');
    const { id } = products.edges[0].node;
    await graphql(
      url,
      `mutation { createDevices(productId: "${id}", plan: "unlimited", devices: [${devices}]) { id } }`,
    );
  }
}

/** Scrolls through all devices, a step in each frame. */
async function scrollOf(page: Page, url: string): Promise<object> {
  await page.goto(`${url}/console/devices`);
  await page.locator('table.devices td.name a').first().waitFor();
  const busy = await busyMeter(page);
  const { frames, rows } = await page.evaluate<{ frames: number; rows: number }>(`new Promise((resolve) => {
    const box = [...document.querySelectorAll('*')].filter((one) => one.contains(document.querySelector('table.devices')))
      .findLast((one) => one.scrollHeight > one.clientHeight + 1) ?? document.scrollingElement;
    let [frames, still] = [0, 0];
    const step = () => {
      const was = box.scrollTop;
      box.scrollTop = was + ${SCROLLED};
      frames += 1;
      still = box.scrollTop === was ? still + 1 : 0;
      if (still > 300) resolve({ frames: frames - still, rows: document.querySelectorAll('table.devices tbody tr').length });
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  })`);
  const { all, drawn } = await busy();
  const each = (ms: number): number => Math.round((100 * ms) / frames) / 100;
  return {
    frames,
    rows,
    busyAFrame: each(all),
    scriptsAndLayoutAFrame: each(drawn),
  };
}
