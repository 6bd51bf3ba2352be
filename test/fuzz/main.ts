import { cursorKeyOf } from '../support/cursor-key.ts';
import { ServerProcess } from '../support/server-process.ts';
import { TestServer } from '../support/server.ts';
import { fuzz } from './fuzz.ts';
import { openDatabase } from './open-database.ts';
import type { Kind } from './senders.ts';
import { main as walkMain } from './walk/main.ts';

/** A stall longer than this is shown, with what was on the way: nobody is to be held up for more (issue 9). */
const STALL_MS = 100;

const [first, ...words] = process.argv.slice(2);
await (first === 'walk' ? walkMain(words) : main(first, words));

/**
 * `npm run fuzz -- [sqlite|postgres] [inputs] [seed] [seconds] [kind]`: a million inputs on SQLite unless told
 * otherwise, of one kind or all, for so long at most; ends with 1 and what was found.
 */
async function main(database = 'sqlite', numbers: readonly string[]): Promise<void> {
  const [inputs = 1_000_000, seed = Date.now() % 1_000_000, seconds = 86_400] = numbers.slice(0, 3).map(Number);
  const kind = numbers[3] as Kind | undefined;
  if (database !== 'sqlite' && database !== 'postgres') throw new Error(`sqlite or postgres, not ${database}`);
  const { url, close } = await openDatabase(database);
  const env = {
    DATABASE_URL: url,
    WRITE_RATE_PER_FIELD: '0',
    ANONYMOUS_PER_MINUTE: '0',
    MQTT_PORT: '0',
    MQTT_DATACAKE: 'on',
    MQTT_THINGSBOARD: 'on',
    // A tenth of the usual: most of the time would go into decoders that never end.
    DECODER_TIMEOUT_MS: '25',
  };
  const server = new TestServer(await ServerProcess.start(env), async () => {});
  console.log(`${database}, seed ${seed}, ${inputs} inputs`);
  const started = performance.now();
  try {
    const result = await fuzz(server, {
      seed,
      cursorKey: await cursorKeyOf(env.DATABASE_URL),
      inputs,
      ...(kind === undefined ? {} : { kinds: [kind] }),
      withinMs: seconds * 1000,
      onProgress: (so) => console.log(JSON.stringify(so)),
      onFinding: (what) => console.log(what),
    });
    const took = Math.round((performance.now() - started) / 1000);
    const { byKind, taken, byStatus, warnings, stalls, findings } = result;
    const memory = server.process.residentMb();
    console.log(JSON.stringify({ database, seed, inputs: result.inputs, seconds: took, byKind, taken, byStatus, warnings, memory, longestStallMs: stalls[0]?.ms, findings: findings.length })); // oxfmt-ignore
    for (const { ms, asked } of stalls.filter(({ ms }) => ms > STALL_MS))
      console.log(`the event loop computed for ${ms} ms; on the way:\n  ${asked.join('\n  ')}`);
    process.exitCode = findings.length === 0 ? 0 : 1;
  } finally {
    await server.stop();
    await close();
  }
}
