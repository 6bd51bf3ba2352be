import { pause } from '../../scheduling/pause.ts';
import type { Database } from '../ports/database.ts';
import type { CallRow, MeasurementStore } from '../ports/store.ts';
import { placeholders } from '../sql/long-columns.ts';
import type { Outbox } from './outbox.ts';
import { readRecipientsOf } from './recipients.ts';
import { readToldProducts } from './told-devices.ts';

/** Maximum failures told per product and minute: a decoder that always fails does so with each call. */
const MAX_PER_MINUTE = 20;
/** Time that failures wait for others of their transaction. */
const TOGETHER_MS = 100;
/** Delay after a failed transaction: the database may be away. */
const FAILED_MS = 1_000;
/** How far back is looked at the start: a server may have ended between a call and its event. */
const LOOK_BACK_MS = 600_000;
const MINUTE_MS = 60_000;

interface CallFailuresDeps {
  database: Database;
  store: Pick<MeasurementStore, 'calls'>;
  outbox: Outbox;
  now: () => number;
  onError: (error: unknown) => void;
}

interface Failure {
  productId: string;
  row: CallRow;
}

/**
 * Writes `call.failed` behind the commit of the call, which is the store's; events that an end of the server left out are
 * written at the next start. The key of an event is the call's id, so none is told twice.
 */
export class CallFailures {
  readonly #deps: CallFailuresDeps;
  /** Failures of each product in a minute by the clock. */
  readonly #counts = new Map<string, number>();
  #minute = 0;
  #waiting: Failure[] = [];
  #writing: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(deps: CallFailuresDeps) {
    this.#deps = deps;
  }

  /** Call after the commit of a call; never waits. */
  note(productId: string, row: CallRow): void {
    if (row.status !== 'DECODER_FAILED') return;
    const minute = Math.floor(this.#deps.now() / MINUTE_MS);
    if (minute !== this.#minute) this.#counts.clear();
    this.#minute = minute;
    const count = (this.#counts.get(productId) ?? 0) + 1;
    if (count > MAX_PER_MINUTE) return;
    this.#counts.set(productId, count);
    this.#waiting.push({ productId, row });
    if (this.#waiting.length === 1) this.#writing = this.#write();
  }

  /** Looks for failures that were not told before this process began. */
  async start(): Promise<void> {
    const { database, store, now, onError } = this.#deps;
    try {
      const recipients = await readRecipientsOf(database.read(), 'call.failed');
      const workspaces = [...new Set(recipients.map(({ workspaceId }) => workspaceId))];
      if (workspaces.length === 0) return;
      const products = await database
        .read()
        .execute<{ key: number; id: string }[]>(
          `select "key", id from product where workspace_id in (${placeholders(workspaces)}) and deleted_at is null`,
          workspaces,
        );
      for (const { key: productKey, id } of products) {
        const query = { productKey, statuses: ['DECODER_FAILED' as const], from: now() - LOOK_BACK_MS };
        for (const row of await store.calls({ ...query, limit: MAX_PER_MINUTE })) this.note(id, row);
      }
    } catch (error) {
      onError(error);
    }
  }

  /** Waits until what was noted is written, or cannot be: then the next start does it. */
  stop(): Promise<void> {
    this.#isStopped = true;
    return this.#writing;
  }

  async #write(): Promise<void> {
    await pause(TOGETHER_MS);
    while (this.#waiting.length > 0) {
      const failures = [...this.#waiting];
      try {
        await this.#writeEvents(failures);
        this.#waiting.splice(0, failures.length);
      } catch (error) {
        this.#deps.onError(error);
        if (this.#isStopped) return;
        await pause(FAILED_MS);
      }
    }
  }

  async #writeEvents(failures: readonly Failure[]): Promise<void> {
    const { database, outbox } = this.#deps;
    const ids = [...new Set(failures.map(({ productId }) => productId))];
    await database.write(async (em) => {
      const products = await readToldProducts(em, ids);
      await outbox.write(
        em,
        failures.flatMap(({ productId, row }) => {
          const of = products.get(productId);
          if (of === undefined) return [];
          const { workspaceId, product } = of;
          const at = new Date(row.receivedAt);
          return [
            {
              key: `call.failed ${row.id}`,
              type: 'call.failed' as const,
              workspaceId,
              productId,
              deviceId: null,
              tags: [],
              endpointIds: null,
              at,
              data: { product, call: { id: row.id, receivedAt: at.toISOString(), ...errorOf(row) } },
            },
          ];
        }),
      );
    });
    outbox.wake();
  }
}

function errorOf({ run }: CallRow): { error: string | null; message: string | null } {
  const { error } = JSON.parse(run ?? '{}') as { error?: { kind?: string; message?: string } | null };
  return { error: error?.kind ?? null, message: error?.message ?? null };
}
