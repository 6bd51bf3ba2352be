import { once } from 'node:events';
import type { TestServer } from './server.ts';

/** The work of an event loop, counted: a slow or busy machine changes nothing. */
interface CountedWork {
  /** Characters of JSON. */
  parsed: number;
  promises: number;
}

/** How much a server that was started with `watched` does while the work goes on. */
export async function countedWork(server: TestServer, work: () => Promise<unknown>): Promise<CountedWork> {
  const { child } = server.process;
  const say = async (word: 'count' | 'counted'): Promise<unknown> => {
    const answered = once(child, 'message');
    child.send(word);
    return (await answered)[0];
  };
  await say('count');
  await work();
  return (await say('counted')) as CountedWork;
}

/** Bytes that a server that was started with `watched` keeps when its garbage has been collected. */
export async function keptBytes({ process: { child } }: TestServer): Promise<number> {
  const answered = once(child, 'message');
  child.send('kept');
  return (await answered)[0] as number;
}
