import { fileURLToPath } from 'node:url';
import { ServerProcess } from '../../support/server-process.ts';
import { TestServer } from '../../support/server.ts';
import { openDatabase } from '../open-database.ts';
import { BrokerWays } from './broker-ways.ts';
import { fill } from './fill.ts';
import { Gauge } from './gauge.ts';
import { walk } from './walk.ts';
import { LARGE } from './world.ts';

const QUICK_PASSWORDS = fileURLToPath(new URL('../../support/quick-passwords.cjs', import.meta.url));

/**
 * `npm run fuzz -- walk [sqlite|postgres] [seconds] [names]`: everything that the schema has, as widely as it is allowed;
 * `names`: only what the regular expression fits. Each finding is a line; ends with 1 when there is one.
 */
export async function main([database = 'sqlite', seconds = '1800', names]: string[]): Promise<void> {
  if (database !== 'sqlite' && database !== 'postgres') throw new Error(`sqlite or postgres, not ${database}`);
  const { url, close } = await openDatabase(database);
  const gauge = await Gauge.create();
  const broker = await BrokerWays.start();
  const env = {
    ...gauge.env,
    NODE_OPTIONS: `${gauge.env['NODE_OPTIONS']} --require=${QUICK_PASSWORDS}`,
    DATABASE_URL: url,
    WRITE_RATE_PER_FIELD: '0',
    ANONYMOUS_PER_MINUTE: '0',
    ...broker.env,
  };
  const started = performance.now();
  const since = (): number => Math.round((performance.now() - started) / 1000);
  try {
    const { server, world } = await fill(url, LARGE, async () => {
      return new TestServer(await ServerProcess.start(env), async () => {});
    });
    try {
      await broker.send(server, world);
      console.log(`${database}, filled in ${since()} s`);
      const { findings, ...walked } = await walk(server, world, {
        withinMs: Number(seconds) * 1000,
        gauge,
        ...(names === undefined ? {} : { only: new RegExp(names) }),
        onFinding: (finding) => console.log(JSON.stringify(finding)),
      });
      const memory = server.process.residentMb();
      console.log(JSON.stringify({ database, seconds: since(), ...walked, memory, findings: findings.length }));
      process.exitCode = findings.length === 0 ? 0 : 1;
    } finally {
      await server.stop();
    }
  } finally {
    broker.stop();
    await close();
  }
}
