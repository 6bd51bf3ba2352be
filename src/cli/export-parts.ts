import { readRangeTime } from '../domain/times/range-time.ts';
import type { Remote } from './remote.ts';

/** Options of an export. */
interface ExportWish {
  device?: string | undefined;
  product?: string | undefined;
  tag?: string[] | undefined;
  from?: string | undefined;
  to?: string | undefined;
  fields?: string | undefined;
  layout?: string | undefined;
  format: 'csv' | 'ndjson';
}

/** End of what is exported: all devices up to the cursor, and of the next one all before `upTo` of a field. */
export interface ExportPlace {
  after: string | null;
  device: string | null;
  /** null in the wide layout. */
  field: string | null;
  upTo: number;
}

/** One request: a month of a device, in the long layout of one of its fields. */
export interface Part {
  query: string;
  format: 'csv' | 'ndjson';
  values: number;
  /** End of the export after this part. */
  place: ExportPlace;
  /** Exported share of the devices, 0 to 1. */
  progress: number;
}

interface Statistics {
  field: { identifier: string };
  count: number;
  first: { timestamp: string } | null;
  last: { timestamp: string } | null;
}

interface Device {
  id: string;
  product: { fields: { identifier: string }[] };
}

const DEVICE = 'id product { fields { identifier } }';
const DEVICES = `query ($product: ID, $tags: [String!], $after: String) {
  devices(productId: $product, tags: $tags, first: 1, after: $after) {
    totalCount edges { cursor node { ${DEVICE} } }
  }
}`;
const BY_ID = `query ($id: ID!) { device(id: $id) { ${DEVICE} } }`;
const BY_SERIAL = `query ($serial: String!) { deviceBySerialNumber(serialNumber: $serial) { ${DEVICE} } }`;
const STATISTICS = `query ($id: ID!, $from: DateTime!, $to: DateTime!, $fields: [String!]) {
  device(id: $id) { statistics(from: $from, to: $to, fields: $fields) {
    field { identifier } count first { timestamp } last { timestamp } } }
}`;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The remaining parts in the order of the file: devices as they were created, fields, time. */
export async function* exportedParts(
  remote: Remote,
  wish: ExportWish,
  place: ExportPlace & { to: number },
): AsyncGenerator<Part> {
  const [from, to] = [timeOf(wish.from, 'from') ?? 0, timeOf(wish.to, 'to') ?? place.to];
  const layout = wish.layout ?? 'long';
  if (layout !== 'long' && layout !== 'wide') throw new Error('--layout is long or wide');
  if (layout === 'wide' && wish.format === 'csv' && wish.device === undefined && wish.product === undefined)
    throw new Error('--layout wide as CSV has one set of columns: choose --device or --product, or --format ndjson');
  const fields = wish.fields?.split(',').filter((name) => name !== '') ?? null;
  const begun = { ...place };
  let [isFirst, seen] = [begun.after === null && begun.device === null, 0];
  for await (const { device, cursor, before, count } of devicesOf(remote, wish, begun.after)) {
    const all = await partsOf(remote, device, { from, to, layout, fields });
    const parts = device.id === begun.device ? behind(all, begun, device) : all;
    // Columns of a device without measurements.
    if (isFirst && parts.length === 0) parts.push({ from, to: from + 1, fields, values: 0 });
    for (let at = 0; at < parts.length; at += 1) {
      const { from: begin, to: end, fields: some, values } = parts[at]!;
      const parameters = new URLSearchParams({ layout, from: iso(begin), to: iso(end) });
      if (some !== null) parameters.set('fields', some.join(','));
      const isLast = at === parts.length - 1;
      yield {
        query: `/v1/devices/${device.id}/history.${wish.format}?${parameters}`,
        format: wish.format,
        values,
        place:
          isLast && cursor !== null
            ? { after: cursor, device: null, field: null, upTo: 0 }
            : { after: before, device: device.id, field: layout === 'long' ? (some?.[0] ?? null) : null, upTo: end },
        progress: count === 0 ? 0 : (seen + (at + 1) / parts.length) / count,
      };
      isFirst = false;
    }
    seen += 1;
  }
}

interface Found {
  device: Device;
  /** null: it is the only one. */
  cursor: string | null;
  before: string | null;
  /** Number of devices when the listing began. */
  count: number;
}

async function* devicesOf(remote: Remote, wish: ExportWish, start: string | null): AsyncGenerator<Found> {
  if (wish.device !== undefined) {
    const isId = UUID.test(wish.device);
    const variables = isId ? { id: wish.device } : { serial: wish.device };
    const found = await remote.graphql<Record<string, Device | null>>(isId ? BY_ID : BY_SERIAL, variables);
    const device = Object.values(found)[0];
    if (device == null) throw new Error(`there is no device "${wish.device}"`);
    yield { device, cursor: null, before: null, count: 1 };
    return;
  }
  let total: number | null = null;
  for (let after = start; ;) {
    const variables = { product: wish.product ?? null, tags: wish.tag ?? null, after };
    const { devices } = await remote.graphql<{
      devices: { totalCount: number; edges: { cursor: string; node: Device }[] };
    }>(DEVICES, variables);
    const [edge] = devices.edges;
    if (edge === undefined) return;
    total ??= devices.totalCount;
    yield { device: edge.node, cursor: edge.cursor, before: after, count: total };
    after = edge.cursor;
  }
}

interface Choice {
  from: number;
  to: number;
  layout: string;
  fields: string[] | null;
}

interface Stretch {
  from: number;
  to: number;
  fields: string[] | null;
  values: number;
}

/** Months with values, in the long layout field by field; the values of a month are estimated from the whole. */
async function partsOf(
  remote: Remote,
  { id, product }: Device,
  { from, to, layout, fields }: Choice,
): Promise<Stretch[]> {
  const own = product.fields.map(({ identifier }) => identifier);
  const chosen = fields?.filter((name) => own.includes(name)) ?? own;
  if (chosen.length === 0) return [];
  const { device } = await remote.graphql<{ device: { statistics: Statistics[] } }>(STATISTICS, {
    id,
    from: iso(from),
    to: iso(to),
    fields: chosen,
  });
  const there = device.statistics.filter(({ count }) => count > 0);
  const groups = layout === 'long' ? there.map((one) => [one]) : there.length === 0 ? [] : [there];
  return groups.flatMap((group) => {
    const first = Math.min(...group.map((one) => Date.parse(one.first!.timestamp)));
    const last = Math.max(...group.map((one) => Date.parse(one.last!.timestamp)));
    const months = monthsOf(first, last + 1);
    const count = group.reduce((sum, one) => sum + one.count, 0);
    return months.map(([begin, end], at) => ({
      from: begin,
      to: end,
      fields: layout === 'long' ? [group[0]!.field.identifier] : fields && chosen,
      values: Math.floor((count * (at + 1)) / months.length) - Math.floor((count * at) / months.length),
    }));
  });
}

/** The parts not exported yet, also when older values have come since. */
function behind(parts: readonly Stretch[], { field, upTo }: ExportPlace, { product }: Device): Stretch[] {
  const order = (name: string | null | undefined): number =>
    product.fields.findIndex(({ identifier }) => identifier === name);
  if (field === null) return parts.filter(({ to }) => to > upTo);
  return parts.filter(({ fields, to }) => order(fields?.[0]) > order(field) || (fields?.[0] === field && to > upTo));
}

/** Splits the range where months begin in UTC. */
function monthsOf(from: number, to: number): [from: number, to: number][] {
  const months: [number, number][] = [];
  for (let begin = from; begin < to;) {
    const date = new Date(begin);
    const next = Math.min(to, Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1));
    months.push([begin, next]);
    begin = next;
  }
  return months;
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

function timeOf(text: string | undefined, name: string): number | null {
  const time = text === undefined ? null : readRangeTime(text);
  if (text !== undefined && time === null) throw new Error(`--${name}: expected ISO 8601 such as 2026-01-31T12:00:00Z`);
  return time;
}
