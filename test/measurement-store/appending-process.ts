import type { MeasurementStore } from '../../src/domain/measurements/store.ts';
import { PostgresMeasurementStore } from '../../src/measurement-store/postgres/postgres-measurement-store.ts';
import { SqliteMeasurementStore } from '../../src/measurement-store/sqlite/sqlite-measurement-store.ts';

/**
 * A process for tests to kill: `node appending-process.ts <file or URL> <first n> [remove]`. Ten appenders write value n
 * at time n, for device 1 + n % 10, and print `n` once it is acknowledged, or `! <code>`. With `remove`, each value is removed
 * again, and printed once that is acknowledged.
 */
const [, , place = '', first, mode] = process.argv;
const open: Promise<MeasurementStore> = place.startsWith('postgres:')
  ? PostgresMeasurementStore.open({ url: place })
  : SqliteMeasurementStore.open({ path: place });
const store = await open;

let next = Number(first);
async function appendForever(): Promise<void> {
  for (;;) {
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
      process.stdout.write(`${n}\n`);
    } catch (error) {
      process.stdout.write(`! ${(error as { code?: string }).code}\n`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
await Promise.all(Array.from({ length: 10 }, appendForever));
