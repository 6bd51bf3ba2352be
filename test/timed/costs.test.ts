import { expect, onTestFinished, test } from 'vitest';
import { PointBudget } from '../../src/domain/history/point-budget.ts';
import { SeriesReader, type ViewRequest } from '../../src/domain/history/series-reader.ts';
import { jobOf, startPool } from '../sandbox/pool.ts';
import { processorMsOf } from '../support/processor-time.ts';
import { expectAsFast } from './reference.ts';

const inBuckets = (deviceKey: number): ViewRequest => ({
  deviceKey,
  fieldKey: 1,
  fieldType: 'FLOAT',
  from: 0,
  to: 400_000,
  maxCharacters: 0,
  view: { kind: 'statistics' },
});

test('a failure costs the server nothing for the lines of its source', async () => {
  const pool = startPool();
  onTestFinished(() => pool.stop());
  const job = jobOf(`function Decoder() {\n throw new Error('x');\n}${'\n'.repeat(262_000)}`);
  expect((await pool.run(job)).error).toMatchObject({ kind: 'THREW', line: 2 });
  const many = (): Promise<unknown> => Promise.all(Array.from({ length: 64 }, () => pool.run(job)));
  expectAsFast('64 failures of a source with 262,000 lines', await processorMsOf(many));
});

test('of fifty thousand fields are not gone through for each fifty', async () => {
  const series = async (requests: readonly unknown[]): Promise<object[]> =>
    requests.map(() => ({ before: null, views: [{}] }));
  const reader = new SeriesReader({ series } as unknown as ConstructorParameters<typeof SeriesReader>[0]);
  const asked = Array.from({ length: 50_000 }, (_, deviceKey) => inBuckets(deviceKey));
  const usedMs = await processorMsOf(() => reader.read(asked, new PointBudget()));
  expectAsFast('fifty thousand series asked for at once', usedMs);
});
