import { type Beyond, evaluateSeries, needsBeyond, segmentsToDecode } from '../../domain/history/evaluate-series.ts';
import type { Segment, SegmentColumns } from '../../domain/measurements/segment.ts';
import type { Moment, SeriesAnswer, SeriesRequest } from '../../domain/ports/series-request.ts';
import type { StoredValue } from '../../domain/ports/store.ts';
import { eachValue, valueOf } from '../readings/reading-values.ts';
import { indexAt } from '../../domain/history/index-at.ts';
import type { Room } from './blocks.ts';
import { allDone } from './all-done.ts';
import { decode, type Part, partsOf } from './codec.ts';
import { mergeColumns, sliceColumns, toColumns } from './columns.ts';
import { readRange, readingPages } from './read-range.ts';
import type { ChunkHead, Snapshot } from './snapshot.ts';
import { AnswerBudget } from './answer-budget.ts';
import { must } from '../../must.ts';

/** Readings of the first page: most have the field that is looked for. */
const MOSTLY_ENOUGH = 2;
const HEADS_A_PAGE = 10_000;
const CHUNKS_A_PAGE = 1_000;
/** Maximum chunks with texts per page: one has up to a megabyte. */
const TEXT_CHUNKS_A_PAGE = 16;
/** Maximum requests per device whose columns are in memory at once. */
const AT_ONCE = 20;

/** Milliseconds after which no further device is begun: the caller may be gone. */
const BEGINS_FOR_MS = 1_000;

/**
 * Answers the requests in order: chunks' heads first, then of those only the parts that must be decoded, readings over
 * them. undefined where time was over: after `beginsForMs` nothing is begun but the first.
 */
export async function readSeries(
  snapshot: Snapshot,
  requests: readonly SeriesRequest[],
  beginsForMs = BEGINS_FOR_MS,
): Promise<(SeriesAnswer | undefined)[]> {
  const endsAt = performance.now() + beginsForMs;
  const answers = requests.map((): SeriesAnswer | undefined => undefined);
  let isFirst = true;
  const byDevice = Map.groupBy(requests.keys(), (i) => must(requests[i]).deviceKey);
  for (const indexes of byDevice.values())
    for (let at = 0; at < indexes.length; at += AT_ONCE) {
      if (!isFirst && performance.now() >= endsAt) return answers;
      isFirst = false;
      const some = indexes.slice(at, at + AT_ONCE);
      const answered = await ofDevice(
        snapshot,
        some.map((i) => must(requests[i])),
      );
      some.forEach((i, n) => (answers[i] = must(answered[n])));
    }
  return answers;
}

async function ofDevice(snapshot: Snapshot, requests: SeriesRequest[]): Promise<SeriesAnswer[]> {
  const heads = await allDone(requests.map((request) => allHeads(snapshot, request)));
  // A chunk that begins before the range has the value before it: readings over it there are needed, too.
  const from = Math.min(
    ...requests.map((request, i) => Math.min(request.from, must(heads[i])[0]?.firstAt ?? Infinity)),
  );
  const to = Math.max(...requests.map((request) => request.to));
  const fields = new Set(requests.map((request) => request.fieldKey));
  const budget = new AnswerBudget();
  try {
    const readings = await readingColumns(snapshot, {
      deviceKey: must(requests[0]).deviceKey,
      fields,
      from,
      to,
      budget,
    });
    return await allDone(
      requests.map((request, i) =>
        answer(snapshot, request, { heads: must(heads[i]), readings: must(readings.get(request.fieldKey)), budget }),
      ),
    );
  } finally {
    budget.end();
  }
}

/** Of one request. */
interface Sources {
  heads: ChunkHead[];
  readings: SegmentColumns;
  /** Of its device. */
  budget: AnswerBudget;
}

async function answer(
  snapshot: Snapshot,
  request: SeriesRequest,
  { heads, readings, budget }: Sources,
): Promise<SeriesAnswer> {
  const begin = Math.min(request.from, heads[0]?.firstAt ?? Infinity);
  const inRange = sliceColumns(readings, indexAt(readings.timestamps, begin), indexAt(readings.timestamps, request.to));
  const segments = await toSegments(snapshot, request, { heads, readings: inRange, budget });
  const needed = segmentsToDecode(request, segments);
  await decodeTexts(snapshot, request, segments, { needed, budget });
  const missing = needed.filter((i) => must(segments[i]).columns === null);
  const first = segments[0];
  const hasBefore = first !== undefined && first.firstAt < request.from;
  const [bytes, before, beyond] = await Promise.all([
    missingBytes(snapshot, request, segments, missing),
    hasBefore ? null : valueBefore(snapshot, request),
    needsBeyond(request) ? valuesBeyond(snapshot, request) : undefined,
  ]);
  // Nothing waits from here on: the decoded columns are in memory that the next request uses again.
  const opened = inParts(request, segments, missing, bytes);
  decodeInto(segmentsToDecode(request, opened).map((i) => opened[i] as Part));
  return evaluateSeries(request, opened, before, beyond);
}

async function allHeads(snapshot: Snapshot, { deviceKey, fieldKey, from, to }: SeriesRequest): Promise<ChunkHead[]> {
  const heads: ChunkHead[] = [];
  for (let start = from; ;) {
    const range = { deviceKey, fieldKey, from: start, to, newestFirst: false, limit: HEADS_A_PAGE };
    const page = await snapshot.chunks(range);
    for (const head of page) heads.push(head);
    if (page.length < HEADS_A_PAGE) return heads;
    start = must(page.at(-1)).lastAt + 1;
  }
}

interface WantedReadings {
  deviceKey: number;
  fields: Set<number>;
  from: number;
  to: number;
  budget: AnswerBudget;
}

async function readingColumns(
  snapshot: Snapshot,
  { deviceKey, fields, from, to, budget }: WantedReadings,
): Promise<Map<number, SegmentColumns>> {
  const found = new Map([...fields].map((key) => [key, { timestamps: [] as number[], values: [] as StoredValue[] }]));
  for await (const page of readingPages(snapshot, { deviceKey, from, to, newestFirst: false })) {
    for (const { timestamp, values } of page)
      eachValue(values, (fieldKey, value) => {
        const field = found.get(fieldKey);
        if (!field) return;
        // The same field twice in one reading: the last one counts.
        if (field.timestamps.at(-1) === timestamp) field.values.pop();
        else field.timestamps.push(timestamp);
        field.values.push(value);
        budget.spendValue(value);
      });
    await budget.room();
  }
  return new Map([...found].map(([key, { timestamps, values }]) => [key, toColumns(timestamps, values)]));
}

/** Chunks that readings fall into come merged with them; the readings between chunks are segments of their own. */
async function toSegments(
  snapshot: Snapshot,
  { deviceKey, fieldKey }: SeriesRequest,
  { heads, readings, budget }: Sources,
): Promise<Segment[]> {
  const segments: Segment[] = [];
  const { timestamps } = readings;
  let at = 0;
  for (const head of heads) {
    const start = indexAt(timestamps, head.firstAt);
    if (start > at) segments.push(toSegment(sliceColumns(readings, at, start)));
    at = indexAt(timestamps, head.lastAt + 1);
    if (start === at) segments.push({ ...head, columns: null });
    else {
      const [bytes] = await snapshot.chunkBytes(deviceKey, fieldKey, [head.firstAt]);
      const columns = decode(must(bytes));
      budget.spendTexts(columns.values);
      segments.push(toSegment(mergeColumns(columns, sliceColumns(readings, start, at))));
    }
  }
  if (at < timestamps.length) segments.push(toSegment(sliceColumns(readings, at, timestamps.length)));
  return segments;
}

function toSegment(columns: SegmentColumns): Segment {
  const { timestamps } = columns;
  return {
    firstAt: must(timestamps[0]),
    lastAt: must(timestamps.at(-1)),
    count: timestamps.length,
    summary: null,
    columns,
  };
}

/** The bytes of the chunks behind the segments of the indexes, in pages of `aPage`. */
async function* chunkPages(
  snapshot: Snapshot,
  { deviceKey, fieldKey }: SeriesRequest,
  { segments, indexes, aPage }: { segments: Segment[]; indexes: number[]; aPage: number },
): AsyncGenerator<{ some: number[]; bytes: Uint8Array[] }> {
  for (let at = 0; at < indexes.length; at += aPage) {
    const some = indexes.slice(at, at + aPage);
    const firstAts = some.map((i) => must(segments[i]).firstAt);
    const among = must(some.at(-1)) - must(some[0]) + 1;
    yield { some, bytes: await snapshot.chunkBytes(deviceKey, fieldKey, firstAts, among) };
  }
}

/** Decodes segments without a summary, which are needed in whole; only as many as may be in memory. */
async function decodeTexts(
  snapshot: Snapshot,
  request: SeriesRequest,
  segments: Segment[],
  { needed, budget }: { needed: number[]; budget: AnswerBudget },
): Promise<void> {
  const indexes = needed.filter((i) => must(segments[i]).summary === null);
  for await (const { some, bytes } of chunkPages(snapshot, request, { segments, indexes, aPage: TEXT_CHUNKS_A_PAGE })) {
    some.forEach((i, n) => {
      const columns = decode(must(bytes[n]));
      budget.spendTexts(columns.values);
      segments[i] = { ...must(segments[i]), columns };
    });
    await budget.room();
  }
}

async function missingBytes(
  snapshot: Snapshot,
  request: SeriesRequest,
  segments: Segment[],
  indexes: number[],
): Promise<Uint8Array[]> {
  const all: Uint8Array[] = [];
  for await (const page of chunkPages(snapshot, request, { segments, indexes, aPage: CHUNKS_A_PAGE }))
    for (const bytes of page.bytes) all.push(bytes);
  return all;
}

/** The segments, those of the indexes in the parts that their bytes can be decoded in. */
function inParts(
  { from, to }: SeriesRequest,
  segments: Segment[],
  indexes: number[],
  bytes: Uint8Array[],
): (Segment | Part)[] {
  const all: (Segment | Part)[] = [];
  let n = 0;
  segments.forEach((segment, i) => {
    if (i !== indexes[n]) return all.push(segment);
    const parts = partsOf(segment, must(bytes[n++]));
    // The first one behind the range says, as the chunk did, that there is more; the last one that begins before it has
    // the value before it.
    const end = Math.min(parts.length, parts.findLastIndex(({ firstAt }) => firstAt < to) + 2);
    const start = Math.max(
      0,
      parts.findLastIndex(({ firstAt }) => firstAt < from),
    );
    for (let at = start; at < end; at++) all.push(must(parts[at]));
  });
  return all;
}

function decodeInto(parts: Part[]): void {
  const { timestamps, values } = roomFor(parts.reduce((sum, { count }) => sum + count, 0));
  let start = 0;
  for (const part of parts) {
    const end = start + part.count;
    part.decode({ timestamps: timestamps.subarray(start, end), values: values.subarray(start, end) });
    start = end;
  }
}

/** Maximum values of the room kept for the next request: 16 MB. */
const MAX_KEPT_VALUES = 1_048_576;
let kept: Room = { timestamps: new Float64Array(0), values: new Float64Array(0) };

/** Memory of at least `count` values. */
function roomFor(count: number): Room {
  if (count <= kept.values.length) return kept;
  const length = count <= MAX_KEPT_VALUES ? 2 ** Math.ceil(Math.log2(count)) : count;
  const room = { timestamps: new Float64Array(length), values: new Float64Array(length) };
  if (length <= MAX_KEPT_VALUES) kept = room;
  return room;
}

/** The last value before the range; no chunk reaches into the range from before it. */
async function valueBefore(snapshot: Snapshot, { deviceKey, fieldKey, from }: SeriesRequest): Promise<Moment | null> {
  const place = { deviceKey, from: -Infinity, to: from, newestFirst: true };
  const [chunk] = await snapshot.chunks({ ...place, fieldKey, limit: 1 });
  const oldest = chunk?.lastAt ?? -Infinity;
  for await (const page of readingPages(snapshot, { ...place, from: oldest }, MOSTLY_ENOUGH))
    for (const { timestamp, values } of page) {
      const value = valueOf(values, fieldKey);
      if (value !== undefined) return { timestamp, value };
    }
  if (!chunk) return null;
  if (chunk.summary) return { timestamp: chunk.lastAt, value: chunk.summary.last };
  const [bytes] = await snapshot.chunkBytes(deviceKey, fieldKey, [chunk.firstAt]);
  return { timestamp: chunk.lastAt, value: must(decode(must(bytes)).values.at(-1)) };
}

/** The values beyond both ends of the range, by which falls there are judged. */
async function valuesBeyond(snapshot: Snapshot, request: SeriesRequest): Promise<Beyond> {
  const { deviceKey, fieldKey, from, to } = request;
  const place = { deviceKey, fieldKey };
  // Looks no further back or ahead among readings than to the nearest chunk with the field.
  const earlierChunks = await snapshot.chunks({ ...place, from: -Infinity, to: from, newestFirst: true, limit: 2 });
  const [laterChunk] = await snapshot.chunks({ ...place, from: to, to: Infinity, newestFirst: false, limit: 1 });
  const [before, after] = [
    { ...place, from: earlierChunks.at(-1)?.firstAt ?? -Infinity, to: from, newestFirst: true, limit: 2 },
    {
      ...place,
      from: to,
      to: laterChunk === undefined ? Infinity : laterChunk.lastAt + 1,
      newestFirst: false,
      limit: 1,
    },
  ];
  const [earlier, later] = [await readRange(snapshot, before), await readRange(snapshot, after)];
  return { earlier: momentAt(earlier, 1), next: momentAt(later, 0) };
}

function momentAt({ timestamps, values }: SegmentColumns, index: number): Moment | null {
  return index < timestamps.length ? { timestamp: must(timestamps[index]), value: must(values[index]) } : null;
}
