import type { Access } from '../../domain/access/access.ts';
import type { Change, Cluster } from '../../domain/ports/cluster.ts';
import { eachInTurns } from '../../scheduling/yield-to-event-loop.ts';
import { pause } from '../../scheduling/pause.ts';
import type { Authenticator } from '../../domain/accounts/authenticator.ts';
import { FORBIDDEN, SERVICE_RESTART, type SocketSession } from './socket-session.ts';

/** Maximum ids of products and devices that the database is asked for at once. */
const PAGE = 20_000;
/** Weight of a token beside the products, devices and fields that it is limited to, and of each workspace of its user. */
const [TOKEN, WORKSPACE] = [100, 10];
/** Milliseconds of closing a socket, and of freeing what it held. */
export const CLOSES_MS = 0.03;
/** Pause after the database did not answer. */
const AGAIN_MS = 500;

const REASONS: Record<'token' | 'user', readonly [code: number, reason: string]> = {
  token: [FORBIDDEN, 'the token was revoked or changed'],
  // Subscriptions under the old rights are asked for again under the new ones.
  user: [SERVICE_RESTART, 'access changed, connect again'],
};

interface SessionRightsDeps {
  /** All that are open. */
  sessions: ReadonlySet<SocketSession>;
  authenticator: Pick<Authenticator, 'accessesOf'>;
  cluster: Cluster;
  /** The database did not answer and is asked until it does: told once. */
  onError: (error: unknown) => void;
}

/**
 * Ends sessions whose token or user has changed. When changes may have been missed the database is asked about every
 * session, and those whose rights are as they were go on.
 */
export class SessionRights {
  readonly #deps: SessionRightsDeps;
  /** Sessions that may have changed unheard, by their access: tokens have thousands of sockets. */
  readonly #doubted = new Map<Access, Set<SocketSession>>();
  #asking = false;
  #revision = 0;

  constructor(deps: SessionRightsDeps) {
    this.#deps = deps;
    deps.cluster.onChanged((changes) => this.#changed(changes));
  }

  /** Counts changes of tokens or users, so that an access read across one is read again. */
  get revision(): number {
    return this.#revision;
  }

  /** Ends all of them in one pass: a workspace is deleted with thousands of tokens. */
  #changed(changes: readonly Change[]): void {
    const changed = { token: new Set<string>(), user: new Set<string>() };
    for (const change of changes) {
      if (change.kind === 'token' || change.kind === 'user') changed[change.kind].add(change.id);
      else if (change.kind !== 'everything') continue;
      this.#revision += 1;
      if (change.kind === 'everything') this.#doubtAll();
    }
    if (changed.token.size + changed.user.size === 0) return;
    const ending: Ending[] = [];
    for (const session of this.#deps.sessions) {
      const { access } = session;
      if (access === null) continue;
      if (changed.token.has(access.tokenId)) ending.push([session, 'token']);
      else if (access.userId !== null && changed.user.has(access.userId)) ending.push([session, 'user']);
    }
    endAll(ending);
  }

  #doubtAll(): void {
    for (const session of this.#deps.sessions) if (session.access !== null) this.#doubt(session.access, session);
    if (!this.#asking) void this.#askAll();
  }

  #doubt(access: Access, session: SocketSession): void {
    const sessions = this.#doubted.get(access);
    if (sessions === undefined) this.#doubted.set(access, new Set([session]));
    else sessions.add(session);
  }

  /** Asks about all doubted sessions, for at most half of the time, however often it begins anew. Never rejects. */
  async #askAll(): Promise<void> {
    this.#asking = true;
    let isTold = false;
    for (let page = this.#takePage(); page.size > 0; page = this.#takePage()) {
      const from = performance.now();
      try {
        await this.#ask(page);
        await pause(performance.now() - from);
      } catch (error) {
        if (!isTold) this.#deps.onError(error);
        isTold = true;
        for (const [access, sessions] of page) for (const session of sessions) this.#doubt(access, session);
        await pause(AGAIN_MS);
      }
    }
    this.#asking = false;
  }

  #takePage(): Map<Access, Set<SocketSession>> {
    const page = new Map<Access, Set<SocketSession>>();
    let size = 0;
    for (const [access, sessions] of this.#doubted) {
      for (const session of sessions) if (session.ending || !this.#deps.sessions.has(session)) sessions.delete(session);
      if (sessions.size > 0) size += sizeOf(access);
      if (size > PAGE && page.size > 0) break;
      this.#doubted.delete(access);
      if (sessions.size > 0) page.set(access, sessions);
    }
    return page;
  }

  async #ask(page: ReadonlyMap<Access, ReadonlySet<SocketSession>>): Promise<void> {
    const tokenIds = new Set([...page.keys()].map(({ tokenId }) => tokenId));
    const now = await this.#deps.authenticator.accessesOf([...tokenIds]);
    const ending: Ending[] = [];
    for (const [access, sessions] of page) {
      const changed = access.changedSince(now.get(access.tokenId) ?? null);
      if (changed !== null) for (const session of sessions) ending.push([session, changed]);
    }
    endAll(ending);
  }
}

/** A session, and the changed token or user that ends it. */
type Ending = readonly [session: SocketSession, changed: 'token' | 'user'];

/** Their rights end at once, their sockets some at a time. */
function endAll(ending: readonly Ending[]): void {
  for (const [session, changed] of ending) session.beginsToEnd(...REASONS[changed]);
  void eachInTurns(ending, ([session, changed]) => session.end(...REASONS[changed]), CLOSES_MS);
}

function sizeOf({ productIds, deviceIds, fields, workspaces }: Access): number {
  const ids = (productIds?.size ?? 0) + (deviceIds?.size ?? 0) + (fields?.size ?? 0);
  return TOKEN + ids + workspaces * WORKSPACE;
}
