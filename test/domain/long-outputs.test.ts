import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { DecoderEngine } from '../../src/domain/decoders/decoder-engine.ts';
import { shownOutput } from '../../src/domain/decoders/decoder-output.ts';
import { countTurns } from '../support/loop-turns.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';

const LISTS = Array.from({ length: 50_000 }, () => []);

/** Of a decoder that returns what it is told. */
class SayingEngine implements Pick<DecoderEngine, 'check' | 'run'> {
  says: { output: string; value: unknown } = { output: 'null', value: null };

  async check() {
    return null;
  }

  async run() {
    return { ...this.says, console: [], error: null, durationMs: 1 };
  }
}

describe('a decoder that returns very much', () => {
  let domain: OpenDomain;
  let id: string;
  const engine = new SayingEngine();
  const tried = () =>
    domain.decoders.testDecoder(domain.access, id, { source: 'function Decoder() {}', request: { body: 'x' } });

  beforeAll(async () => {
    domain = await openDomain('sqlite', engine as unknown as DecoderEngine);
    ({ id } = await domain.products.create(domain.access, { name: 'outputs' }));
    await tried();
  });
  afterAll(() => domain.close());

  test('leaves others their turns between what is done with it', async () => {
    const says = (value: unknown) => ({ output: JSON.stringify(value), value });
    const turnsOf = async (): Promise<number> => {
      const counted = countTurns();
      await tried();
      counted.stop();
      return counted.turns;
    };
    engine.says = says([]);
    const few = await turnsOf();
    engine.says = says([{ field: 'F', value: LISTS }]);
    expect(await turnsOf()).toBeGreaterThanOrEqual(few + 2);
  });

  test('costs what is shown of it', async () => {
    // One long value, a thousand times.
    engine.says = {
      output: '[]',
      value: Array.from({ length: 1_000 }, () => ({ device: LISTS, field: 'F', value: LISTS })),
    };
    let entries: unknown[] = [];
    const written = vi.spyOn(JSON, 'stringify');
    ({ entries } = await tried());
    const characters = written.mock.results.reduce((sum, { value }) => sum + String(value ?? '').length, 0);
    written.mockRestore();
    expect(entries[0]).toMatchObject({ value: `${JSON.stringify(LISTS).slice(0, 1_000)}…` });
    expect(entries[0]).toMatchObject({ device: `${JSON.stringify(LISTS).slice(0, 200)}…` });
    // Written whole, a thousand times twice: 300 million.
    expect(characters).toBeLessThan(1_000_000);
  });

  test('is copied only where it is shown otherwise', () => {
    const value = { a: LISTS, b: [{ $inlet: 'NaN' }, LISTS], ['__proto__']: { $inlet: 'bigint:5' } };
    const shown = shownOutput(value) as typeof value;
    expect(shown).toEqual({ a: LISTS, b: ['NaN', LISTS], ['__proto__']: '5n' });
    expect(Object.keys(shown)).toEqual(['a', 'b', '__proto__']);
    expect(shown.a).toBe(LISTS);
    expect(value.b[0]).toEqual({ $inlet: 'NaN' });
  });
});
