import type { Access } from '../../domain/access/access.ts';
import type { Change, Cluster } from '../../domain/cluster.ts';
import { pause } from '../../domain/pause.ts';
import type { Authenticator } from '../../domain/tokens/authenticator.ts';
import { FORBIDDEN, SERVICE_RESTART, type SocketSession } from './socket-session.ts';

/** Sessions whose tokens the database is asked for at once: some milliseconds of the event loop. */
const PAGE = 200;
/** After the database did not answer. */
const AGAIN_MS = 500;

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
  /** What may have changed unheard. */
  readonly #doubted = new Set<SocketSession>();
  #asking = false;
  #revision = 0;

  constructor(deps: SessionRightsDeps) {
    this.#deps = deps;
    deps.cluster.onChanged((changes) => this.#changed(changes));
  }

  /** Moves when tokens or users change, so that an access read across one is read again. */
  get revision(): number {
    return this.#revision;
  }

  /** In one pass for all of them: a workspace is deleted with thousands of tokens. */
  #changed(changes: readonly Change[]): void {
    const changed = { token: new Set<string>(), user: new Set<string>() };
    for (const change of changes) {
      if (change.kind === 'token' || change.kind === 'user') changed[change.kind].add(change.id);
      else if (change.kind !== 'everything') continue;
      this.#revision += 1;
      if (change.kind === 'everything') this.#doubtAll();
    }
    if (changed.token.size + changed.user.size === 0) return;
    for (const session of this.#deps.sessions) {
      const { access } = session;
      if (access === null) continue;
      if (changed.token.has(access.tokenId)) end(session, 'token');
      else if (access.userId !== null && changed.user.has(access.userId)) end(session, 'user');
    }
  }

  #doubtAll(): void {
    for (const session of this.#deps.sessions) if (session.access !== null) this.#doubted.add(session);
    if (!this.#asking) void this.#askAll();
  }

  /** Never rejects. Takes at most half of the time, however many there are and however often it begins anew. */
  async #askAll(): Promise<void> {
    this.#asking = true;
    let isTold = false;
    for (let page = this.#takePage(); page.length > 0; page = this.#takePage()) {
      const from = performance.now();
      try {
        await this.#ask(page);
        await pause(performance.now() - from);
      } catch (error) {
        if (!isTold) this.#deps.onError(error);
        isTold = true;
        for (const session of page) this.#doubted.add(session);
        await pause(AGAIN_MS);
      }
    }
    this.#asking = false;
  }

  #takePage(): SocketSession[] {
    const page: SocketSession[] = [];
    for (const session of this.#doubted) {
      if (page.length === PAGE) break;
      this.#doubted.delete(session);
      if (!session.ending && this.#deps.sessions.has(session)) page.push(session);
    }
    return page;
  }

  async #ask(page: SocketSession[]): Promise<void> {
    const granted = (session: SocketSession): Access => session.access as Access;
    const now = await this.#deps.authenticator.accessesOf([
      ...new Set(page.map((session) => granted(session).tokenId)),
    ]);
    for (const session of page) {
      const changed = granted(session).changedSince(now.get(granted(session).tokenId) ?? null);
      if (changed !== null) end(session, changed);
    }
  }
}

function end(session: SocketSession, changed: 'token' | 'user'): void {
  if (changed === 'token') session.end(FORBIDDEN, 'the token was revoked or changed');
  // What was subscribed under the old rights is asked for again under the new ones.
  else session.end(SERVICE_RESTART, 'access changed, connect again');
}
