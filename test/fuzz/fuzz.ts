import { sealWith } from '../../src/domain/text/sealed-text.ts';
import type { TestServer } from '../support/server.ts';
import { Chance } from './chance.ts';
import { GrownOperations } from './grown-operation.ts';
import { type Kind, ActiveTenants } from './senders.ts';
import { ServerWatch, type Stall } from './server-watch.ts';
import { Targets } from './targets.ts';

/** Cases on their way at the same time: most wait for something else than a processor. */
const AT_ONCE = 96;
/** Of these so many are decoders that lie: they wait for each other, as slow ones do. */
const LIARS = 3;
/** So many of a thousand are masses: each takes as long as a hundred others. */
const MASSES = 5;
const MAX_FINDINGS = 20;
const KEEP_UP_EVERY_MS = 200;

const KINDS: readonly Kind[] = [
  'record', 'record', 'record', 'webhook', 'webhook', 'network', 'network', 'raw', 'raw', 'graphql', 'graphql', 'graphql', 'socket', 'file', 'page', 'cursor', 'mqtt',
]; // oxfmt-ignore

export interface FuzzOptions {
  seed: number;
  /** What the server seals its cursors with: a forger may have it. */
  cursorKey: string;
  inputs: number;
  /** Kinds of cases, each as often as it is named; left out: all. */
  kinds?: readonly Kind[];
  /** Ends earlier when this has passed. */
  withinMs?: number;
  /** Told every 10,000 inputs, so that what is broken off counts up to there. */
  onProgress?: (so: Pick<FuzzResult, 'inputs' | 'byKind'>) => void;
  onFinding?: (what: string) => void;
}

export interface FuzzResult {
  inputs: number;
  byKind: Record<string, number>;
  /** Cases of each kind that were answered 200 to 207: those got behind the checks. */
  taken: Record<string, number>;
  /** How often each status came back; in place of 503 why. */
  byStatus: Record<string, number>;
  /** What went wrong, with the input that did it. */
  findings: string[];
  /** What held up the event loop longest. */
  stalls: readonly Stall[];
  /** What the log warned of, and how often. */
  warnings: Readonly<Record<string, number>>;
}

/**
 * What the server says of its own mistakes; 1011 and 4500 close a WebSocket on which it blames itself; `resume.ts` finds the
 * last two.
 */
const BAD = /"INTERNAL_SERVER_ERROR"|^HTTP\/1\.1 500|^(?:1011|4500) |^(?:leak|wrong end): /;

/** Everything that anyone may send, and nothing that comes back may be a 500, a crash, a freeze or an error in the log. */
export async function fuzz(
  server: TestServer,
  { seed, cursorKey, inputs, kinds: wanted = KINDS, withinMs = Infinity, onProgress, onFinding }: FuzzOptions,
): Promise<FuzzResult> {
  const findings: string[] = [];
  const byKind: Record<string, number> = {};
  const taken: Record<string, number> = {};
  const byStatus: Record<string, number> = {};
  let begun = 0;
  let done = 0;
  const found = (what: string): void => {
    findings.push(`#${begun} ${what.slice(0, 3000)}`);
    onFinding?.(findings.at(-1)!);
  };
  sealWith(cursorKey);
  const targets = new Targets(server);
  await made(targets);
  const operations = await GrownOperations.of((query) => server.gql(query));
  const senders = new ActiveTenants(server, { targets, operations, connections: AT_ONCE });
  // Takes the lines of the log away.
  const watch = new ServerWatch(server.process, found);
  const started = performance.now();
  const goesOn = (): boolean =>
    done < inputs && findings.length < MAX_FINDINGS && performance.now() - started < withinMs;

  const worker = async (kinds: readonly Kind[]): Promise<void> => {
    while (goesOn()) {
      const index = begun;
      begun += 1;
      // Each case has a seed of its own: it can be made again alone.
      const chance = new Chance(seed * 1_000_003 + index);
      const kind = wanted === KINDS && chance.int(1_000) < MASSES ? 'mass' : chance.pick(kinds);
      const { text, count = 1, send } = senders.make(kind, chance);
      const input = `${kind}: ${text.slice(0, 800)}`;
      const answer = await watch.asking(input, send);
      if (BAD.test(answer)) found(`${input}\n  answer: ${answer.slice(0, 300)}`);
      const status = /^HTTP\/1\.1 (?:503.*"detail":"([^"]{0,80})|(\d{3}))/s.exec(answer)?.slice(1).join('') ?? 'other';
      byStatus[status] = (byStatus[status] ?? 0) + 1;
      byKind[kind] = (byKind[kind] ?? 0) + count;
      if (status.startsWith('20')) taken[kind] = (taken[kind] ?? 0) + 1;
      done += count;
      if (Math.floor(done / 10_000) > Math.floor((done - count) / 10_000)) onProgress?.({ inputs: done, byKind });
    }
  };
  const keeper = async (): Promise<void> => {
    while (goesOn()) {
      // What it would use may be just being deleted.
      await targets.keepUp().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, KEEP_UP_EVERY_MS));
    }
  };
  await Promise.all([
    keeper(),
    ...Array.from({ length: AT_ONCE }, (_, at) => worker(at < LIARS && wanted === KINDS ? ['decoder'] : wanted)),
  ]);
  await watch.end();
  senders.end();
  return { inputs: done, byKind, taken, byStatus, findings, stalls: watch.stalls, warnings: watch.warnings };
}

/** A machine that stands still may time out what makes them. */
async function made(targets: Targets): Promise<void> {
  for (let left = 4; ; left -= 1) {
    try {
      return await targets.keepUp();
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}
