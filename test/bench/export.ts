import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ADMIN_TOKEN, ServerProcess } from '../support/server-process.ts';
import { eachDatabase } from './each-database.ts';
import { countRows } from './count-rows.ts';
import { END, FIELDS, loadHistory, MINUTE, YEAR_MINUTES } from './history-data.ts';
import { startBareKoa } from './start-bare-koa.ts';

const VALUES = YEAR_MINUTES * FIELDS;
const AUTHORIZATION = { Authorization: `Token ${ADMIN_TOKEN}` };

/** What is taken out: the lines behind the header, and the file's bytes unpacked. */
const EXPORTS = {
  'csv wide': { file: 'history.csv?layout=wide', lines: YEAR_MINUTES + 1, gzip: false },
  'csv wide gzip': { file: 'history.csv?layout=wide', lines: YEAR_MINUTES + 1, gzip: true },
  'csv long': { file: 'history.csv', lines: VALUES + 1, gzip: false },
  'ndjson wide': { file: 'history.ndjson?layout=wide', lines: YEAR_MINUTES, gzip: false },
};

/**
 * `npm run bench -- export [sqlite|postgres]`: a year of ten fields as files, and into an empty server; beside them a bare
 * Koa route over one plain SQLite table with a row for each minute, as wide CSV.
 */
export async function run(args: string[]): Promise<void> {
  const bare = await startBareKoa('bare-files.ts');
  try {
    await eachDatabase(args[0], async ({ database, newUrl, folder }) => {
      await exports(database, await newUrl(), folder, bare.port);
      for (const format of ['csv', 'ndjson'])
        await imports(database, await newUrl(), join(folder, `wide.${format}`), format, bare.port);
    });
  } finally {
    bare.stop();
  }
}

async function exports(database: string, url: string, folder: string, barePort: number): Promise<void> {
  const { year } = await loadHistory(url, true);
  const server = await ServerProcess.start({ DATABASE_URL: url, LOG_LEVEL: 'info' });
  await read(barePort, '/', false);
  for (const [scenario, { file, lines, gzip }] of Object.entries(EXPORTS)) {
    const bare = await read(barePort, '/', false);
    const memory = watchMemory(server);
    const full = await read(server.port, `/v1/devices/${year}/${file}`, gzip);
    const residentMb = memory.stop();
    if (full.lines !== lines && !gzip) throw new Error(`${scenario}: ${full.lines} lines, not ${lines}`);
    if (bare.lines !== YEAR_MINUTES + 1) throw new Error(`the bare route sent ${bare.lines} lines`);
    print({ database, scenario, ...rates(full, bare), residentMb });
  }
  const { file } = EXPORTS['csv wide'];
  const alone = await read(server.port, `/v1/devices/${year}/${file}`, false);
  const requests = setInterval(() => void knock(server, year), 100);
  const beside = await read(server.port, `/v1/devices/${year}/${file}`, false);
  clearInterval(requests);
  const times = Math.round((beside.seconds / alone.seconds) * 100) / 100;
  print({
    database,
    scenario: 'csv wide beside ten requests a second',
    seconds: beside.seconds,
    aloneSeconds: alone.seconds,
    times,
  });
  for (const format of ['csv', 'ndjson'])
    await pipeline(
      await answer(server.port, `/v1/devices/${year}/history.${format}?layout=wide`, 'GET'),
      createWriteStream(join(folder, `wide.${format}`)),
    );
  await server.stop();
}

/** What a device sends that has nothing to tell. */
async function knock(server: ServerProcess, device: string): Promise<void> {
  const headers = { 'Content-Type': 'application/json', ...AUTHORIZATION };
  await (await fetch(`${server.url}/v1/devices/${device}/record/`, { method: 'POST', headers, body: '[]' })).text();
}

async function imports(database: string, url: string, file: string, format: string, barePort: number): Promise<void> {
  const server = await ServerProcess.start({ DATABASE_URL: url, LOG_LEVEL: 'info' });
  const fields = Array.from({ length: FIELDS }, (_, at) => ({ identifier: `field_${at}`, type: 'FLOAT' }));
  const { createProduct: product } = await server.gql<{ createProduct: { id: string } }>(
    'mutation ($input: CreateProductInput!) { createProduct(input: $input) { id } }',
    { input: { name: 'bench', fields } },
  );
  const { createDevices: created } = await server.gql<{ createDevices: { id: string }[] }>(
    'mutation ($id: ID!) { createDevices(productId: $id, devices: [{ name: "one" }], plan: "unlimited") { id } }',
    { id: product.id },
  );
  // The ceiling takes CSV only.
  const bare = await send(barePort, '/', file.replace('ndjson', 'csv'), 'text/csv');
  const memory = watchMemory(server);
  const full = await send(
    server.port,
    `/v1/devices/${created[0]!.id}/import`,
    file,
    format === 'csv' ? 'text/csv' : 'application/x-ndjson',
  );
  const residentMb = memory.stop();
  const charts = await chartsOfImported(server, created[0]!.id);
  await server.stop();
  const stored = await countRows(url);
  if (stored !== VALUES) throw new Error(`${stored} values are there, not ${VALUES}: ${full.text.slice(0, 500)}`);
  print({ database, scenario: `import ${format} wide`, ...rates(full, bare), residentMb, ...charts });
}

/** How long the chart of a field takes right after the import, and how soon it takes less than a third of a second. */
async function chartsOfImported(server: ServerProcess, id: string): Promise<Record<string, number>> {
  const begun = performance.now();
  const query = `query ($id: ID!, $from: DateTime!, $to: DateTime!) { device(id: $id) {
    history(fields: ["field_0"], from: $from, to: $to, resolution: "1052m") { values } } }`;
  const variables = { id, from: new Date(END - YEAR_MINUTES * MINUTE), to: new Date(END) };
  const chart = async (): Promise<number> => {
    const asked = performance.now();
    await server.gql(query, variables);
    return performance.now() - asked;
  };
  const first = await chart();
  let last = first;
  while (last > 300 && performance.now() - begun < 120_000) last = await chart();
  const seconds = (performance.now() - begun) / 1000;
  return { chartAtOnceMs: Math.round(first), chartMs: Math.round(last), afterSeconds: Math.round(seconds * 10) / 10 };
}

interface Transfer {
  seconds: number;
  bytes: number;
}

function rates(full: Transfer, bare: Transfer): Record<string, unknown> {
  const perSecond = ({ seconds }: Transfer): number => Math.round(VALUES / seconds);
  return {
    seconds: Math.round(full.seconds * 10) / 10,
    valuesPerSecond: perSecond(full),
    mbPerSecond: Math.round(full.bytes / full.seconds / 1e5) / 10,
    barePerSecond: perSecond(bare),
    ratio: Math.round((perSecond(full) / perSecond(bare)) * 1000) / 1000,
  };
}

async function read(port: number, path: string, gzip: boolean): Promise<Transfer & { lines: number }> {
  const begun = performance.now();
  let [bytes, lines] = [0, 0];
  const response = await answer(port, path, 'GET', gzip ? { 'Accept-Encoding': 'gzip' } : {});
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
  }
  return { seconds: (performance.now() - begun) / 1000, bytes, lines };
}

async function send(port: number, path: string, file: string, type: string): Promise<Transfer & { text: string }> {
  const begun = performance.now();
  const response = await answer(port, path, 'POST', { 'Content-Type': type }, file);
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { seconds: (performance.now() - begun) / 1000, bytes: statSync(file).size, text };
}

function answer(
  port: number,
  path: string,
  method: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, method, headers: { ...AUTHORIZATION, ...headers } },
      (response) => {
        if (response.statusCode === 200) resolve(response);
        else {
          let text = '';
          response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
          response.on('end', () => reject(new Error(`${path} answered ${response.statusCode}: ${text}`)));
        }
      },
    );
    sent.on('error', reject);
    if (body === undefined) sent.end();
    else createReadStream(body).pipe(sent);
  });
}

/** The most that the server has resident, looked at five times a second. */
function watchMemory(server: ServerProcess): { stop: () => number } {
  let most = server.residentMb();
  const timer = setInterval(() => (most = Math.max(most, server.residentMb())), 200);
  return {
    stop: () => {
      clearInterval(timer);
      return most;
    },
  };
}

function print(facts: Record<string, unknown>): void {
  console.log(JSON.stringify({ bench: 'export', ...facts }));
}
