import { generateLoad, postRequest } from '../bench/generator.ts';
import { eventLoopTime } from '../support/processor-time.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import type { TestServer } from '../support/server.ts';
import type { Attack, AttackGround } from './attacks.ts';

/** What somebody else did in one turn. */
export interface Turn {
  requests: number;
  failed: number;
  requestsPerSecond: number;
  p99Ms: number;
  /** For how long the server's event loop ran, and for how long the machine would have let it. */
  ranMs: number;
  hadMs: number;
}

/** Asks for so many seconds, as fast as answers come. */
export type Victim = (seconds: number) => Promise<Turn>;

/** Ten connections that record a value with the operator's token. */
export function recording(server: TestServer, deviceId: string): Victim {
  const headers = ['Content-Type: application/json', `Authorization: Token ${ADMIN_TOKEN}`];
  return turns(server, postRequest(`/v1/devices/${deviceId}/record/`, headers, '[{"field":"field_0","value":1}]'), 10);
}

/** Four connections, or so many, that ask for a product with a token. */
export function asking(server: TestServer, secret: string, connections = 4): Victim {
  const headers = ['Content-Type: application/json', `Authorization: Token ${secret}`];
  const body = JSON.stringify({ query: '{ products(first: 1) { edges { node { name } } } }' });
  return turns(server, postRequest('/graphql', headers, body), connections);
}

function turns(server: TestServer, request: Buffer, connections: number): Victim {
  const pid = server.process.child.pid!;
  return async (seconds) => {
    const [before, from] = [eventLoopTime(pid), performance.now()];
    const load = { port: server.process.port, connections, seconds, next: () => request };
    const { requests, failed, requestsPerSecond, p99Ms } = await generateLoad(load);
    const after = eventLoopTime(pid);
    const waitedMs = after.waitedMs - before.waitedMs;
    const ranMs = after.ranMs - before.ranMs;
    return { requests, failed, requestsPerSecond, p99Ms, ranMs, hadMs: performance.now() - from - waitedMs };
  };
}

/** A turn between two calm ones, and what the attacker got done meanwhile. */
export interface Round {
  before: Turn;
  during: Turn;
  after: Turn;
  answered: number;
  /**
   * Of the event loop, all but what goes beyond the victim's own requests at what these cost alone just before and
   * after; time for which the machine had no processor counts for nobody, so it does not matter what else runs on it.
   */
  share: number;
}

/** One turn of the victim beside the attack, between `before` and another calm one. */
export async function attackedRound(
  victim: Victim,
  {
    attack,
    ground,
    seconds,
    calmSeconds = seconds,
    before,
  }: { attack: Attack; ground: AttackGround; seconds: number; calmSeconds?: number; before: Turn },
): Promise<Round> {
  const stop = await attack(ground);
  const during = await victim(seconds);
  const answered = await stop();
  const after = await victim(calmSeconds);
  const costMs = (before.ranMs + after.ranMs) / (before.requests + after.requests);
  return { before, during, after, answered, share: 1 - (during.ranMs - during.requests * costMs) / during.hadMs };
}
