import { expect, test } from 'vitest';
import { LocalCluster } from '../../src/cluster/local-cluster.ts';
import type { DeviceInfo } from '../../src/domain/ingest-cache/ingest-cache.ts';
import { Feed, type RecordedEvent } from '../../src/domain/measurements/feed.ts';

const HOUR = 3_600_000;
const device = { id: 'd', key: 1, productId: 'p', workspaceId: 'w' } as DeviceInfo;
const accepts = (): boolean => true;

/** A feed with a clock of its own, and what one of its readers has been given so far. */
class Listened {
  now = 10 * HOUR;
  readonly feed = new Feed(new LocalCluster(), () => this.now);
  readonly #stream = this.feed.subscribe({ accepts });
  #sent = 0;

  /** Publishes a batch of so many characters, and returns its event. */
  async publish(characters = 1, receivedAt = this.now): Promise<RecordedEvent> {
    this.#sent += 1;
    const values = [`${this.#sent}`.padEnd(characters, '.')];
    this.feed.publish(device, { deviceKey: 1, receivedAt, fieldKeys: [1], timestamps: [receivedAt], values });
    return (await this.#stream.next()).value as RecordedEvent;
  }

  /** What somebody who comes back with this cursor gets at once; or the code of the error. */
  async after(cursor: string): Promise<string[] | string> {
    try {
      const stream = this.feed.subscribe({ accepts, after: cursor });
      const got: string[] = [];
      // One more than was missed: it tells the end of what was missed.
      const marker = await this.publish(6);
      for await (const event of stream) {
        if (event.cursor === marker.cursor) return got;
        got.push(event.cursor);
      }
      return got;
    } catch (error) {
      return (error as { code: string }).code;
    }
  }
}

test('what is kept is bounded in bytes: the oldest goes, and who needs it is told', async () => {
  const listened = new Listened();
  const events: RecordedEvent[] = [];
  for (let at = 0; at < 40; at += 1) events.push(await listened.publish(1_000_000));
  // 40 MB were sent; about 16 are kept.
  expect(await listened.after(events[10]!.cursor)).toBe('CURSOR_EXPIRED');
  expect(await listened.after(events[36]!.cursor)).toEqual([
    events[37]!.cursor,
    events[38]!.cursor,
    events[39]!.cursor,
  ]);
});

test('what is kept is bounded in time: an hour', async () => {
  const listened = new Listened();
  const old = await listened.publish();
  const last = await listened.publish();
  listened.now += HOUR - 1;
  expect(await listened.after(old.cursor)).toEqual([last.cursor]);
  listened.now += 2;
  await listened.publish();
  expect(await listened.after(old.cursor)).toBe('CURSOR_EXPIRED');
});

test('the event just before the oldest that is kept can be resumed from, the one before that cannot', async () => {
  const listened = new Listened();
  const events: RecordedEvent[] = [];
  for (let at = 0; at < 5; at += 1) {
    listened.now += 1_000;
    events.push(await listened.publish());
  }
  // The first two are over an hour old when the next one comes, the third is not.
  listened.now = events[2]!.receivedAt + HOUR;
  const next = await listened.publish();
  const kept = [...events.slice(2), next].map(({ cursor }) => cursor);
  expect(await listened.after(events[1]!.cursor)).toEqual(kept);
  expect(await listened.after(events[0]!.cursor)).toBe('CURSOR_EXPIRED');
});

test('a cursor that this run has not given yet, or that another run gave, is expired', async () => {
  const listened = new Listened();
  const { cursor } = await listened.publish();
  const [run, sequence] = cursor.split('.');
  expect(await listened.after(`${run}.${Number(sequence) + 1_000}`)).toBe('CURSOR_EXPIRED');
  expect(await listened.after(`another.${sequence}`)).toBe('CURSOR_EXPIRED');
});

test('who has seen everything misses nothing, also when nothing at all is kept', async () => {
  const listened = new Listened();
  // Stored late under its old receipt time, as a replay does: too old to be kept.
  const { cursor } = await listened.publish(1, listened.now - 2 * HOUR);
  expect(await listened.after(cursor)).toEqual([]);
});
