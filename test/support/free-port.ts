import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below what Linux and macOS give to connections that name no port: one of those may take a port before its server does. */
const [FIRST, END] = [10_000, 32_000];
const MAX_TRIES = 100;

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const port = randomInt(FIRST, END);
    if (await isFree(port)) return port;
  }
  throw new Error(`none of ${MAX_TRIES} ports between ${FIRST} and ${END} is free`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  const isFree = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  server.close();
  if (isFree) await once(server, 'close');
  return isFree;
}
