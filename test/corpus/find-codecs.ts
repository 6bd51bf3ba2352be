import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { CorpusUplink } from './corpus-server.ts';
import { readYaml } from './read-yaml.ts';

/** A codec's file and the examples that stand beside it. */
export interface CorpusCodec {
  path: string;
  examples: { name: string; uplink: CorpusUplink; expected: Record<string, unknown> }[];
}

interface Input {
  bytes?: unknown;
  fPort?: unknown;
  recvTime?: string;
  variables?: unknown;
}

/**
 * Every codec below the folder: `codecs/x.js` with `test_decode_x.json` (chirpstack-device-profiles), `x.js` named by the
 * `uplinkDecoder` of a YAML file (lorawan-devices), `*decoder.js` (Milesight's SensorDecoders, which has no examples).
 */
export function* findCodecs(folder: string): Generator<CorpusCodec> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  for (const file of files) {
    const path = join(folder, file);
    const name = basename(file, '.js');
    const tests = join(dirname(path), `test_decode_${name}.json`);
    if (/-codec\.ya?ml$/.test(file)) yield* ofYaml(path);
    else if (!file.endsWith('.js') || /(?:^|[-_/])encoder\.js$/i.test(file)) continue;
    else if (existsSync(tests)) yield { path, examples: examplesIn(JSON.parse(readFileSync(tests, 'utf8'))) };
    else if (/decoder\.js$/i.test(file) || dirname(file).endsWith('codecs')) yield { path, examples: [] };
  }
}

function* ofYaml(path: string): Generator<CorpusCodec> {
  const codec = readYaml(readFileSync(path, 'utf8')) as { uplinkDecoder?: { fileName?: string; examples?: unknown } };
  const { fileName, examples } = codec.uplinkDecoder ?? {};
  if (fileName !== undefined) yield { path: join(dirname(path), fileName), examples: examplesIn(examples ?? []) };
}

function examplesIn(list: unknown): CorpusCodec['examples'] {
  const found = list as { name?: string; description?: string; input: Input; expected?: object; output?: object }[];
  return found.map(({ name, description, input, expected, output }) => ({
    name: name ?? description ?? 'example',
    uplink: {
      bytes: hexOf(input.bytes),
      port: Number(input.fPort ?? 1),
      recvTime: input.recvTime === undefined ? undefined : new Date(input.recvTime).toISOString(),
      variables: input.variables ?? undefined,
    },
    expected: (expected ?? output ?? {}) as Record<string, unknown>,
  }));
}

function hexOf(bytes: unknown): string {
  if (typeof bytes === 'string') return bytes;
  return Buffer.from((bytes ?? []) as number[]).toString('hex');
}
