import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { WatchExecution } from '../../src/graphql/operation/compiled-operation.ts';
import { comparing } from './comparing.ts';

/**
 * A process in which servers of the tests run one after another, each started and stopped as `main.ts` does it: what one
 * has compiled and warmed up serves the next, which halves what a test file takes. Run by Node itself, from `dist`; its
 * stdout is the log of the server that runs. `process.argv[2]`: the socket on which it is asked.
 */
interface Question {
  start?: Record<string, string>;
  stop?: true;
}

interface App {
  url: string;
  stop(): Promise<void>;
}

process.env['NODE_ENV'] ??= 'production';
const dist = new URL('../../dist/src/', import.meta.url);
const server = createServer(serve);
server.listen(process.argv[2]);
// Whoever started it is gone.
process.on('disconnect', () => process.exit(0));
let isTaken = false;

/** A mutation does not run twice. */
const compared: WatchExecution = (compiled, reference, { operation }) =>
  String(operation) === 'mutation' ? compiled : comparing(compiled, reference);

/** One client at a time, which starts one server at a time; it goes without stopping it: so does this process. */
function serve(socket: Socket): void {
  if (isTaken) {
    socket.end('{"taken":true}\n');
    return;
  }
  isTaken = true;
  let app: App | null = null;
  let isBusy = false;
  const answer = (what: object): boolean => socket.write(`${JSON.stringify(what)}\n`);
  const act = async ({ start }: Question): Promise<void> => {
    isBusy = true;
    try {
      if (start !== undefined) {
        // The last server's.
        process.removeAllListeners('uncaughtException');
        const [{ startApp }, { readConfig }] = await Promise.all([
          import(new URL('app.js', dist).href),
          import(new URL('config.js', dist).href),
        ]);
        app = (await startApp(readConfig(start), start['COMPARED'] === undefined ? undefined : compared)) as App;
        answer({ url: app.url });
      } else {
        await app?.stop();
        app = null;
        answer({ stopped: true });
      }
    } catch (error) {
      answer({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
    isBusy = false;
  };
  createInterface({ input: socket })
    .on('line', (line) => void act(JSON.parse(line) as Question))
    .on('error', () => {});
  socket.on('error', () => {});
  socket.on('close', () => {
    if (app !== null || isBusy) process.exit(1);
    isTaken = false;
  });
}
