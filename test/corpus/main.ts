import { readFileSync } from 'node:fs';
import { CorpusServer } from './corpus-server.ts';
import { type CorpusCodec, findCodecs } from './find-codecs.ts';

const USAGE = `npm run corpus -- <folder> [part of a path]

Runs the codecs of a clone of chirpstack-device-profiles, lorawan-devices (The Things Network) or Milesight's
SensorDecoders through the test tool of a running server, and compares what they return with the examples that stand
beside them. INLET_URL (http://localhost:8080) and INLET_TOKEN (a token with CONFIGURE and READ) say which server.`;

const [folder, part = ''] = process.argv.slice(2);
const token = process.env['INLET_TOKEN'];
if (folder === undefined || token === undefined) {
  console.error(USAGE);
  process.exit(2);
}

const server = await CorpusServer.open(process.env['INLET_URL'] ?? 'http://localhost:8080', token);
let passed = 0;
let failed = 0;
let ran = 0;
for (const codec of findCodecs(folder)) if (codec.path.includes(part)) await run(codec);
console.log(`${passed} examples passed, ${failed} failed; ${ran} codecs without examples ran.`);
await server.close();
process.exitCode = failed === 0 ? 0 : 1;

async function run({ path, examples }: CorpusCodec): Promise<void> {
  const source = readFileSync(path, 'utf8');
  if (examples.length === 0) {
    const { error } = await server.run(source, { bytes: '0000', port: 1 });
    if (error === null || error.kind === 'THREW') ran += 1;
    else report(path, 'without an example', `${error.kind}: ${error.message}`);
    return;
  }
  for (const { name, uplink, expected } of examples) {
    const { output, error } = await server.run(source, uplink);
    const difference = differenceOf(expected, output, error);
    if (difference === null) passed += 1;
    else report(path, name, difference);
  }
}

function report(path: string, name: string, difference: string): void {
  failed += 1;
  console.log(`FAIL ${path} (${name})\n     ${difference}`);
}

/** What differs, at the first path where something does; null: nothing. Errors are only expected to be there. */
function differenceOf(
  expected: Record<string, unknown>,
  output: unknown,
  error: { kind: string; message: string } | null,
): string | null {
  const errors = expected['errors'];
  if (Array.isArray(errors) && errors.length > 0) return error === null ? 'expected errors, got none' : null;
  if (error !== null) return `${error.kind}: ${error.message}`;
  const returned = output as Record<string, unknown> | null;
  const data = returned !== null && typeof returned === 'object' && 'data' in returned ? returned['data'] : returned;
  return valueDifference('data', expected['data'] ?? {}, data ?? {});
}

function valueDifference(at: string, wanted: unknown, got: unknown): string | null {
  if (typeof wanted !== 'object' || wanted === null || typeof got !== 'object' || got === null) {
    const close =
      typeof wanted === 'number' &&
      typeof got === 'number' &&
      Math.abs(wanted - got) <= 1e-9 * Math.max(1, Math.abs(wanted));
    return Object.is(wanted, got) || close
      ? null
      : `${at}: expected ${JSON.stringify(wanted)}, got ${JSON.stringify(got)}`;
  }
  for (const key of new Set([...Object.keys(wanted), ...Object.keys(got)])) {
    const [left, right] = [wanted, got].map((object) => (object as Record<string, unknown>)[key]);
    const difference = valueDifference(`${at}.${key}`, left ?? null, right ?? null);
    if (difference !== null) return difference;
  }
  return null;
}
