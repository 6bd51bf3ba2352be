import { randomUUID } from 'node:crypto';
import type { Database } from '../domain/ports/database.ts';
import { InstallationSchema } from '../domain/entities/installation.ts';
import { pause } from '../scheduling/pause.ts';

const NAME = 'changes';
const LOOK_EVERY_MS = 1_000;
/** Time after which every node that reaches the database has looked. */
const SEEN_MS = 1_200;

interface ChangeMarkDeps {
  database: Database;
  /** Called after a change of some node, perhaps this one; it does not say which. */
  onMoved: () => void;
  /** Called when the database did not answer; it is asked again. */
  onError: (error: unknown) => void;
}

/**
 * Second way for nodes on one database to learn of changes, without Redis: a row that each node reads once a second and
 * that every move changes.
 */
export class ChangeMark {
  readonly #deps: ChangeMarkDeps;
  #seen: string | null = null;
  /** A failed move, repeated at the next look. */
  #owed = false;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(deps: ChangeMarkDeps) {
    this.#deps = deps;
  }

  /** Reads the mark before anything is cached. */
  async start(): Promise<void> {
    this.#seen = await this.#read();
    this.#lookLater();
  }

  /** Changes the mark; call it after the commit. Resolves when the other nodes have looked. Never rejects. */
  async move(): Promise<void> {
    await this.#write();
    await pause(SEEN_MS);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #lookLater(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#look().finally(() => this.#lookLater()), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    if (this.#owed) await this.#write();
    try {
      const mark = await this.#read();
      if (mark === this.#seen) return;
      this.#seen = mark;
      this.#deps.onMoved();
    } catch (error) {
      this.#failed(error);
    }
  }

  async #write(): Promise<void> {
    this.#owed = false;
    try {
      await this.#deps.database.write((em) => em.upsert(InstallationSchema, { name: NAME, value: randomUUID() }));
    } catch (error) {
      this.#owed = true;
      this.#failed(error);
    }
  }

  async #read(): Promise<string | null> {
    const row = await this.#deps.database.read().findOne(InstallationSchema, { name: NAME });
    return row?.value ?? null;
  }

  #failed(error: unknown): void {
    if (!this.#stopped) this.#deps.onError(error);
  }
}
