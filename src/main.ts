import { enableCompileCache } from 'node:module';
import type { Logger } from 'pino';
import { type Config, ConfigError, readConfig, StartError } from './config.ts';
import flags from './v8-flags.json' with { type: 'json' };

// Start-up is mostly loading modules: keep their compiled code between starts.
enableCompileCache();
// Before any library reads it: development mode checks every call.
process.env['NODE_ENV'] ??= 'production';

const FORCED_EXIT_MS = 25_000;
/** Minimum time between two signals for the second to end the process at once. */
const SECOND_SIGNAL_MS = 1_000;

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const starting = start(config, process.env['INLET_WORKER']);
  stopOnSignals(starting);
  const app = await starting;
  const missing = flags.filter((flag) => !process.execArgv.includes(flag));
  if (missing.length > 0)
    app.log.warn({ missing }, 'started without flags that npm start and inlet start give to node');
}

/** What runs until it is stopped. */
interface Running {
  log: Logger;
  stop(): Promise<void>;
}

/** The server; where there are several workers, their supervisor, and each of them with its number. */
async function start(config: Config, number: string | undefined): Promise<Running> {
  if (config.workers === 1) return (await import('./app.ts')).startApp(config);
  if (number === undefined) return (await import('./workers/supervisor.ts')).supervise(config);
  const { WorkerSeat } = await import('./workers/worker-seat.ts');
  const { configOfWorker } = await import('./workers/config-of-worker.ts');
  const seat = new WorkerSeat(Number(number));
  return (await import('./app.ts')).startApp(configOfWorker(config, seat.number), undefined, seat);
}

/** Stops on signals, even during the start, and closes what it has opened. */
function stopOnSignals(starting: Promise<Running>): void {
  let stoppingSince: number | null = null;
  const stop = (signal: string): void => {
    if (stoppingSince !== null) {
      // One stop may signal twice: the process and its group.
      if (performance.now() - stoppingSince < SECOND_SIGNAL_MS) return;
      console.error(`${signal} again: exiting at once`);
      process.exit(1);
    }
    stoppingSince = performance.now();
    setTimeout(() => process.exit(1), FORCED_EXIT_MS).unref();
    starting.then(
      (app) => end(app, signal),
      // A failed start reports itself.
      () => {},
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

async function end(app: Running, signal: string): Promise<void> {
  app.log.info({ signal }, 'stopping');
  try {
    await app.stop();
    process.exit(0);
  } catch (error) {
    app.log.error({ err: error }, 'stopping failed');
    process.exit(1);
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof ConfigError || error instanceof StartError ? error.message : error);
  process.exit(1);
});
