import type { MeasurementStore } from '../../src/domain/ports/store.ts';
import { PostgresMeasurementStore } from '../../src/measurement-store/postgres/postgres-measurement-store.ts';
import { SqliteMeasurementStore } from '../../src/measurement-store/sqlite/sqlite-measurement-store.ts';

/**
 * A process for tests to kill: `node appending-process.ts <file or URL> <first n> [remove|compact]`. Ten appenders write value n
 * at time n, for device 1 + n % 10, and print `n` once it is acknowledged, or `! <code>`. With `remove`, each value is removed
 * again, and printed once that is acknowledged. With `compact`, readings go into chunks all the time.
 */
const [, , place = '', first, mode] = process.argv;
const open: Promise<MeasurementStore & { compact(deviceKeys: number[], storedBefore: number): Promise<void> }> =
  place.startsWith('postgres:')
    ? PostgresMeasurementStore.open({ url: place })
    : SqliteMeasurementStore.open({ path: place });
const store = await open;

let next = Number(first);
let acknowledged = 0;
let enough!: () => void;
const firstAcknowledged = new Promise<void>((resolve) => (enough = resolve));
let compacted!: () => void;
/** All devices, after they had something to compact. */
const firstCompaction = new Promise<void>((resolve) => (compacted = mode === 'compact' ? resolve : () => {}));
async function appendForever(): Promise<void> {
  for (;;) {
    if (mode === 'compact' && acknowledged > 200) await firstCompaction;
    const n = next++;
    const deviceKey = 1 + (n % 10);
    const text = { fieldKeys: [2], timestamps: [n], values: [`text ${n}`.padEnd(1_000, '.')] };
    try {
      await store.append({
        batches: [
          { deviceKey, receivedAt: n, fieldKeys: [1, 1], timestamps: [n, n], values: [-1, n] },
          { deviceKey, receivedAt: n, ...text },
        ],
      });
      if (mode === 'remove') await store.remove({ deviceKey, fieldKeys: [1], from: n, to: n + 1, dryRun: false });
      if (++acknowledged === 200) enough();
      process.stdout.write(`${n}\n`);
    } catch (error) {
      process.stdout.write(`! ${(error as { code?: string }).code}\n`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
async function compactForever(): Promise<void> {
  await firstAcknowledged;
  for (;;) {
    await store.compact([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], Infinity);
    compacted();
  }
}
await Promise.all([...Array.from({ length: 10 }, appendForever), ...(mode === 'compact' ? [compactForever()] : [])]);
