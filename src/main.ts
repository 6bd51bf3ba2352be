import { enableCompileCache, flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import type { App } from './app.ts';
import { ConfigError, readConfig, StartError } from './config.ts';
import flags from './v8-flags.json' with { type: 'json' };

// Start-up is mostly loading modules: keep their compiled code between starts.
enableCompileCache();
// Before any library reads it: development mode checks every call.
process.env['NODE_ENV'] ??= 'production';

/**
 * Further flags of V8, set when everything is loaded: on the command line they make it refuse the compiled code that
 * Node brings along, which costs each process 40 ms at its start and each thread 15.
 */
const LATE_FLAGS = ['--heap-growing-percent=30', '--no-allocation-site-pretenuring'];

const FORCED_EXIT_MS = 25_000;
/** Minimum time between two signals for the second to end the process at once. */
const SECOND_SIGNAL_MS = 1_000;

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const starting = import('./app.ts').then(({ startApp }) => startApp(config));
  stopOnSignals(starting);
  const app = await starting;
  // What is compiled under other flags is refused by the next start.
  flushCompileCache();
  for (const flag of LATE_FLAGS) setFlagsFromString(flag);
  const missing = flags.filter((flag) => !process.execArgv.includes(flag));
  if (missing.length > 0)
    app.log.warn({ missing }, 'started without flags that npm start and inlet start give to node');
}

/** Stops on signals, even during the start, and closes what it has opened. */
function stopOnSignals(starting: Promise<App>): void {
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

async function end(app: App, signal: string): Promise<void> {
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
