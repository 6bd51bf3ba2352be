import { AppError, badInput } from '../../errors.ts';
import { Alarm } from '../../scheduling/alarm.ts';
import type { LiveQueue } from '../../scheduling/bounded-stream.ts';
import { NOBODY } from '../../scheduling/caller.ts';
import { runAs } from '../../scheduling/current-caller.ts';
import { pause } from '../../scheduling/pause.ts';
import { PrefetchCredits } from '../../scheduling/prefetch.ts';
import { LiveFeed } from '../live/live-feed.ts';
import type { LiveReader, OlderPage } from '../live/live-subscription.ts';
import type { Database } from '../ports/database.ts';
import { seal, unseal } from '../text/sealed-text.ts';
import { type AlertRow, traceUpTo } from './alert-changes.ts';
import { readTraces } from './alert-rows.ts';

/** A change of an alert, as it was then, with its place in the order of commits. */
export interface AlertChange {
  seq: number;
  workspaceId: string;
  deviceKey: number;
  alert: AlertRow;
}

interface AlertFeedDeps {
  database: Database;
  /** Told of a failure; it is tried again a second later. */
  onError: (error: unknown) => void;
}

interface Subscribing {
  workspaceIds: readonly string[];
  /** Only these devices; null: any. */
  deviceKeys: ReadonlySet<number> | null;
  /** A cursor: begins with everything since. */
  after?: string | null | undefined;
  reader: LiveReader;
}

const CURSOR = /^alert change (\d{1,15})$/;
const PAGE = 500;
/** Other nodes change alerts as well. */
const LOOK_ANYWAY_MS = 1_000;
const EVENT_BYTES = 2_000;
/** At most 5,000 changes lie unread per subscriber. */
const MAX_UNREAD = 5_000 * EVENT_BYTES;

/**
 * Tells subscribers of changed alerts in the order of commits (contract `alertChanged`): one reader of the events for all
 * of a node. A subscriber that comes back with a cursor misses nothing.
 */
export class AlertFeed {
  readonly #deps: AlertFeedDeps;
  readonly #live = new LiveFeed<AlertChange, string>(({ workspaceId }) => workspaceId, {
    sizeOf: () => EVENT_BYTES,
    read: (change) => change,
    maxUnread: MAX_UNREAD,
    tooSlow: 'This subscriber reads too slowly; subscribe again with the cursor of the last event.',
  });
  readonly #credits = new PrefetchCredits();
  readonly #alarm = new Alarm();
  /** Everything up to there was handed out, or is about to be; null: nobody follows. */
  #seq: number | null = null;
  #isRunning = false;
  #isStopped = false;

  constructor(deps: AlertFeedDeps) {
    this.#deps = deps;
  }

  /** Alerts have changed on this node: call after the commit. */
  changed(): void {
    this.#alarm.ring();
  }

  /** Gives what changes from now on. Ends when returned. CURSOR_EXPIRED when changes behind the cursor are no longer kept, BAD_USER_INPUT for no cursor. */
  async subscribe({ workspaceIds, deviceKeys, after, reader }: Subscribing): Promise<LiveQueue<AlertChange>> {
    await reader.turns.next();
    const { seq, forgotten } = await this.#reached();
    const from = after == null ? seq : readCursor(after, seq);
    if (from < forgotten)
      throw new AppError(
        'CURSOR_EXPIRED',
        'Changes of alerts behind this cursor are no longer kept; read `alerts` and subscribe without "after".',
      );
    this.#seq ??= seq;
    const upTo = this.#seq;
    const topics = new Set(workspaceIds);
    const isIts = ({ deviceKey }: AlertChange): boolean => deviceKeys === null || deviceKeys.has(deviceKey);
    const wants = (change: AlertChange): boolean => change.seq > Math.max(from, upTo) && isIts(change);
    const onEnd = (): void => this.#alarm.ring();
    const subscription = this.#live.open({ topics, wants }, reader.party.tenant, onEnd);
    this.#live.add(subscription);
    this.#start();
    let last = from;
    const older = async (): Promise<OlderPage<AlertChange>> => {
      if (last >= upTo) return { items: [], isLast: true };
      const changes = await this.#read(last, upTo);
      const isLast = changes.length < PAGE;
      last = isLast ? upTo : changes.at(-1)!.seq;
      return { items: changes.filter((change) => topics.has(change.workspaceId) && isIts(change)), isLast };
    };
    subscription.readFirst(older, reader, this.#credits);
    return subscription;
  }

  stop(): void {
    this.#isStopped = true;
    this.#alarm.ring();
  }

  #start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    void runAs(NOBODY, () => this.#run()).finally(() => {
      this.#isRunning = false;
      if (this.#live.size > 0 && !this.#isStopped) this.#start();
      else this.#seq = null;
    });
  }

  async #run(): Promise<void> {
    while (this.#live.size > 0 && !this.#isStopped) {
      try {
        const changes = await this.#read(this.#seq!, Number.MAX_SAFE_INTEGER);
        const before = this.#seq!;
        // First, so that one that subscribes meanwhile reads up to here by itself.
        this.#seq = changes.at(-1)?.seq ?? before;
        await this.#live.notify(changes).catch((error: unknown) => {
          this.#seq = before;
          throw error;
        });
        if (changes.length < PAGE) await this.#alarm.sleep(LOOK_ANYWAY_MS);
      } catch (error) {
        if (this.#isStopped) return;
        this.#deps.onError(error);
        await pause(LOOK_ANYWAY_MS);
      }
    }
  }

  async #reached(): Promise<{ seq: number; forgotten: number }> {
    const [row] = await this.#deps.database
      .read()
      .execute<{ seq: number | string; forgotten: number | string }[]>(
        'select seq, forgotten from rule_reader where share = 0',
      );
    return { seq: Number(row!.seq), forgotten: Number(row!.forgotten) };
  }

  async #read(after: number, upTo: number): Promise<AlertChange[]> {
    const rows = await this.#deps.database
      .read()
      .execute<{ seq: number | string; workspaceId: string; deviceKey: number; alert: string }[]>(
        'select seq, workspace_id as "workspaceId", device_key as "deviceKey", alert from alert_event ' +
          'where seq > ? and seq <= ? order by seq limit ?',
        [after, upTo, PAGE],
      );
    const changes = rows.map(({ seq, alert, ...place }) => ({
      seq: Number(seq),
      ...place,
      alert: JSON.parse(alert) as AlertRow,
    }));
    const ids = [...new Set(changes.map(({ alert }) => alert.id))];
    const traces = await readTraces(this.#deps.database.read(), ids);
    for (const { alert } of changes) alert.trace = traceUpTo(traces.get(alert.id) ?? [], alert.trace);
    return changes;
  }
}

/** The sealed cursor of a change. */
export function cursorOf({ seq }: Pick<AlertChange, 'seq'>): string {
  return seal(`alert change ${seq}`);
}

function readCursor(text: string, reached: number): number {
  const seq = Number(CURSOR.exec(unseal(text) ?? '')?.[1] ?? Infinity);
  if (seq > reached) throw badInput('"after" is no cursor of alertChanged.');
  return seq;
}
