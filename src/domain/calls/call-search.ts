import { badInput } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import type { IngestCache } from '../ingest-cache/ingest-cache.ts';
import { visibleProduct } from '../ingest-cache/visible-product.ts';
import type { Page } from '../sql/page.ts';
import type { CallLog, LogFilter } from './call-log.ts';
import type { LoggedCall } from './logged-call.ts';

/** As many calls one search looks through before it says how far it came. */
export const MAX_LOOKED_THROUGH = 2_000;
/** As many characters of calls, where they are long. */
const MAX_CHARACTERS = 8_000_000;
const READ_AT_ONCE = 50;
/** So much is looked through before others have their turn. */
const CHARACTERS_A_TURN = 500_000;
const MAX_WANTED = 200;

/** Which calls are looked for; what is left out does not narrow. Upper and lower case are the same. */
interface WantedCalls extends LogFilter {
  /** Stands in the body, the path, the query, what the decoder printed or why it failed. */
  text?: string | null | undefined;
  /** Stands in what an entry called its device, or in name, serial number or id of the device it was matched to. */
  device?: string | null | undefined;
}

/** How far a search may go, and how it reads. */
interface SearchSteps {
  /** It ends after so many that fit. */
  first: number;
  /** The id of the call behind which it begins; left out: the newest. */
  after?: string | undefined;
  /** A call as the reader may see it: what they may not see is not found either. */
  visible: (call: LoggedCall) => LoggedCall;
  /** Reads a page, counting it. */
  load: (read: () => Promise<Page<LoggedCall>>) => Promise<Page<LoggedCall>>;
}

/** What one search found, newest first. */
interface FoundCalls {
  calls: LoggedCall[];
  lookedThrough: number;
  /** The last call that was looked at; null: there was none. */
  last: LoggedCall | null;
  /** Whether there are calls behind it. */
  hasMore: boolean;
}

/** Looks through the call log of a product for a text or a device: newest first, a bounded stretch at a time. */
export class CallSearch {
  readonly #calls: CallLog;
  readonly #ingestCache: IngestCache;

  constructor(calls: CallLog, ingestCache: IngestCache) {
    this.#calls = calls;
    this.#ingestCache = ingestCache;
  }

  /**
   * Ends after `first` calls that fit, 2,000 looked through or 8 million characters of them, and says where. Needs scope
   * READ for the product as a whole; BAD_USER_INPUT for a text of more than 200 characters.
   */
  async find(access: Access, productId: string, wanted: WantedCalls, steps: SearchSteps): Promise<FoundCalls> {
    const asked = { text: folded('text', wanted.text), device: folded('device', wanted.device) };
    const readAtOnce = asked.text + asked.device === '' ? Math.min(READ_AT_ONCE, steps.first) : READ_AT_ONCE;
    const found: FoundCalls = { calls: [], lookedThrough: 0, last: null, hasMore: true };
    let characters = 0;
    while (found.hasMore && found.lookedThrough < MAX_LOOKED_THROUGH && characters < MAX_CHARACTERS) {
      const after = found.last?.id ?? steps.after;
      const { items, hasNextPage } = await steps.load(() =>
        this.#calls.calls(access, productId, wanted, readAtOnce, after),
      );
      const fitting = await this.#fitting(access, productId, items.map(steps.visible), asked);
      found.hasMore = hasNextPage;
      for (const [index, call] of items.entries()) {
        characters += call.characters;
        found.lookedThrough += 1;
        found.last = call;
        const fit = fitting[index] ?? null;
        if (fit !== null) found.calls.push(fit);
        if (found.calls.length < steps.first) continue;
        return { ...found, hasMore: hasNextPage || index < items.length - 1 };
      }
    }
    return found;
  }

  /** Each of the calls, null where it does not fit; others have their turns in between. */
  async #fitting(
    access: Access,
    productId: string,
    calls: readonly LoggedCall[],
    { text, device }: { text: string; device: string },
  ): Promise<(LoggedCall | null)[]> {
    let turn = 0;
    const step = async ({ characters }: LoggedCall): Promise<void> => {
      turn += characters;
      if (turn < CHARACTERS_A_TURN) return;
      turn = 0;
      await yieldToEventLoop();
    };
    const fitting: (LoggedCall | null)[] = [];
    for (const call of calls) {
      await step(call);
      fitting.push(says(call, text) ? call : null);
    }
    if (device === '') return fitting;
    const ids = new Set<string>();
    for (const call of fitting) {
      if (call === null) continue;
      await step(call);
      for (const { matchedDeviceId } of call.run?.entries ?? []) if (matchedDeviceId !== null) ids.add(matchedDeviceId);
    }
    const product = await visibleProduct(this.#ingestCache, access, productId, 'READ');
    const devices = await this.#ingestCache.devicesOfProduct(product, ids);
    for (const [index, call] of fitting.entries()) {
      if (call === null) continue;
      await step(call);
      const isOf = call.run?.entries.some(({ device: named, matchedDeviceId }) => {
        const matched = devices.get(matchedDeviceId ?? '');
        return [named, matched?.name, matched?.serialNumber, matched?.id].some((name) => has(name, device));
      });
      if (isOf !== true) fitting[index] = null;
    }
    return fitting;
  }
}

function folded(name: string, wanted: string | null | undefined): string {
  const text = wanted?.trim().toLowerCase() ?? '';
  if (text.length > MAX_WANTED) throw badInput(`"${name}" may have at most ${MAX_WANTED} characters.`);
  return text;
}

function has(part: string | null | undefined, text: string): boolean {
  return part?.toLowerCase().includes(text) === true;
}

function says(call: LoggedCall, text: string): boolean {
  if (text === '' || has(call.body, text) || has(call.path, text)) return true;
  const { queryText, run } = call;
  const query = call.shown(JSON.parse(queryText)) as Record<string, string[]>;
  const parts = [...Object.entries(query).flat(2), run?.error?.message, ...(run?.console ?? [])];
  return parts.some((part) => has(part, text));
}
