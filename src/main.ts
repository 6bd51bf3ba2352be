import { enableCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ConfigError, readConfig, StartError } from './config.ts';

// Start-up is mostly reading and compiling modules: keep the compiled code between starts.
enableCompileCache();
// V8 would let the heap grow to a multiple of what is in use before it collects: a small board has no room for that.
setFlagsFromString('--heap-growing-percent=30');
// A burst of requests that wait for the database makes V8 believe that requests live long: for good it would create
// their objects in the old generation, which costs a third more time for each request and pauses of 15 ms.
setFlagsFromString('--no-allocation-site-pretenuring');
// A scavenge is a millisecond of one thread; shared out it waits for threads that a busy machine does not run.
setFlagsFromString('--no-parallel-scavenge');

const FORCED_EXIT_MS = 25_000;
/** A signal that comes later than this after the first one ends the process at once. */
const SECOND_SIGNAL_MS = 1_000;

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const { startApp } = await import('./app.ts');
  const app = await startApp(config);
  setTimeout(giveBackStartUpMemory, 1_500).unref();
  let stoppingSince: number | null = null;
  const stop = (signal: string): void => {
    if (stoppingSince !== null) {
      // One wish may come twice: to the process and to its group.
      if (performance.now() - stoppingSince < SECOND_SIGNAL_MS) return;
      app.log.warn({ signal }, 'second signal: exiting at once');
      process.exit(1);
    }
    stoppingSince = performance.now();
    app.log.info({ signal }, 'stopping');
    setTimeout(() => process.exit(1), FORCED_EXIT_MS).unref();
    app.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        app.log.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** Starting leaves tens of megabytes of garbage that V8 would keep until there is load: a small board wants them back. */
function giveBackStartUpMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: object) => void;
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

main().catch((error: unknown) => {
  console.error(error instanceof ConfigError || error instanceof StartError ? error.message : error);
  process.exit(1);
});
