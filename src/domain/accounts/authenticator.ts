import { hash } from 'node:crypto';
import { lruCache } from '../../scheduling/lru-cache.ts';
import type { Database } from '../ports/database.ts';
import type { Change, Cluster } from '../ports/cluster.ts';
import { VersionCounter } from '../../scheduling/version-counter.ts';
import { SingleFlight } from '../../scheduling/single-flight.ts';
import type { Access } from '../access/access.ts';
import { readAccess, readAccesses } from '../access/read-access.ts';
import { LAST_USED_EVERY_MS, LastUsed } from './last-used.ts';
import { unauthenticated } from '../../errors.ts';

/** Maximum bytes of tokens in memory: 50,000 usual ones, or a few hundred with 2,000 ids or workspaces. */
const MAX_CACHED_BYTES = 64 * 1_048_576;
/** Approximate bytes of a token, and of each id that it is limited to, or workspace of its user. */
const [TOKEN_BYTES, ID_BYTES] = [1_300, 80];
/** Maximum reads of a token that keeps changing. */
const MAX_TRIES = 3;

/**
 * Hash of a secret, the only form in which one is stored. Secrets have 128 random bits or more, so no salt is needed.
 */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

interface Known {
  access: Access;
  /** Revision up to which it is known to be unchanged. */
  since: number;
  /** Size when it was cached: its user may join more workspaces later. */
  bytes: number;
  lastUsedAt: number;
}

function bytesOf({ productIds, deviceIds, fields, workspaces }: Access): number {
  const ids = (productIds?.size ?? 0) + (deviceIds?.size ?? 0) + (fields?.size ?? 0);
  return TOKEN_BYTES + (ids + workspaces) * ID_BYTES;
}

/**
 * Finds the rights of a secret, from memory where possible. The commit that revokes a token, changes a role or removes
 * a member drops it there, on every node. `lastUsedAt` is written in the background, a few seconds late.
 */
export class Authenticator {
  readonly #revisions = new VersionCounter();
  readonly #database: Database;
  readonly #now: () => number;
  readonly #known = lruCache<string, Known>(MAX_CACHED_BYTES, ({ bytes }) => bytes);
  readonly #loads = new SingleFlight<Access | null>();
  /** The hash by which an access was found, for finding it again. */
  readonly #hashes = new WeakMap<Access, string>();
  readonly #lastUsed: LastUsed;

  constructor(database: Database, cluster: Cluster, now: () => number) {
    this.#database = database;
    this.#now = now;
    cluster.onChanged((changes) => this.#note(changes));
    this.#lastUsed = new LastUsed(database);
  }

  /** Number of secrets in memory. */
  get size(): number {
    return this.#known.size;
  }

  /** Changes with every token or user: as long as it stays, and before the expiry, a granted right still holds. */
  get revision(): number {
    return this.#revisions.now;
  }

  /** Access of the secret; null: unknown, revoked or expired. */
  async authenticate(secret: string): Promise<Access | null> {
    const hashed = hashSecret(secret);
    return this.cached(secret) ?? this.#loads.of(hashed, () => this.#load(hashed));
  }

  /** The access without waiting, when it is in memory and has not expired. */
  cached(secret: string): Access | null {
    return this.cachedByHash(hashSecret(secret));
  }

  /** The same by the secret's hash (`hashSecret`). */
  cachedByHash(hashed: string): Access | null {
    const known = this.#known.get(hashed);
    if (known === undefined) return null;
    if (this.#hasChanged(known.access, known.since)) {
      this.#known.delete(hashed);
      return null;
    }
    known.since = this.#revisions.now;
    const now = this.#now();
    if (this.#isOver(known.access.expiresAt)) return null;
    if (now - known.lastUsedAt > LAST_USED_EVERY_MS) {
      known.lastUsedAt = now;
      this.#lastUsed.note(known.access.tokenId, now);
    }
    return known.access;
  }

  /**
   * The present rights of an access's token; null: it is revoked or has expired. From memory, without waiting, while
   * nothing about it has changed.
   */
  present(access: Access): Access | null | Promise<Access | null> {
    const hashed = this.#hashes.get(access);
    if (hashed === undefined) return this.#read({ id: access.tokenId });
    return this.cachedByHash(hashed) ?? this.#loads.of(hashed, () => this.#load(hashed));
  }

  /**
   * Returns a function for long work that gives the token's present rights each time, and rejects with UNAUTHENTICATED
   * once it is revoked or has expired, with FORBIDDEN once it covers fewer fields.
   */
  follow(access: Access): () => Promise<Access> {
    return async () => {
      const current = await this.present(access);
      if (current === null) throw unauthenticated();
      current.requireFieldsOf(access);
      return current;
    };
  }

  /** The present rights of these tokens, read from the database, without those that are gone or have expired. */
  async accessesOf(tokenIds: readonly string[]): Promise<Map<string, Access>> {
    const accesses = await readAccesses(this.#database.read(), tokenIds, this.#now());
    return new Map(accesses.map((access) => [access.tokenId, access]));
  }

  /** Writes the queued times of last use, after those that are being written. */
  flush(): Promise<void> {
    return this.#lastUsed.flush();
  }

  async stop(): Promise<void> {
    await this.#lastUsed.stop();
  }

  /** Notes changes by revision: searching the cache for each changed user would be too slow. */
  #note(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.kind === 'everything') {
        this.#revisions.changedAll();
        this.#known.clear();
      } else if (change.kind === 'token' || change.kind === 'user') this.#revisions.changed(change.id);
    }
  }

  #hasChanged({ tokenId, userId }: Access, since: number): boolean {
    return this.#revisions.hasChanged(userId === null ? [tokenId] : [tokenId, userId], since);
  }

  #isOver(expiresAt: number | null | undefined): boolean {
    return expiresAt != null && expiresAt <= this.#now();
  }

  async #load(hashed: string): Promise<Access | null> {
    for (let tries = 1; ; tries += 1) {
      const before = this.#revisions.now;
      const access = await this.#read({ hash: hashed });
      // Try again after a change: a request that joined this load may know that the token exists by now.
      if (access === null && before !== this.#revisions.now && tries < MAX_TRIES) continue;
      if (access === null) return null;
      // Revoked or changed while it was read: look again.
      if (this.#hasChanged(access, before)) continue;
      const now = this.#now();
      this.#known.set(hashed, { access, since: this.#revisions.now, bytes: bytesOf(access), lastUsedAt: now });
      this.#hashes.set(access, hashed);
      this.#lastUsed.note(access.tokenId, now);
      return access;
    }
  }

  #read(which: { hash: string } | { id: string }): Promise<Access | null> {
    return readAccess(this.#database.read(), which, this.#now());
  }
}
