import { badInput } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import type { DeviceList, ListedDevice } from '../devices/device-list.ts';
import type { DevicePosition } from '../devices/device-order.ts';
import { eachInTurns } from '../../scheduling/yield-to-event-loop.ts';
import type { DeviceInfo, FieldInfo, IngestCache, ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { noField, seenDevice, seenProduct } from '../ingest-cache/seen-fields.ts';
import type { History } from '../history/history.ts';
import { fromStoredValue } from '../measurements/field-value.ts';
import type { Columns, MeasurementStore } from '../ports/store.ts';
import type { Page } from '../sql/page.ts';
import type { Authenticator } from '../accounts/authenticator.ts';
import type { BackgroundTurns, Turns } from '../../scheduling/turns.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import { chartedRows } from './charted-rows.ts';
import { type ChartedQuery, chartedSeries } from './charted-series.ts';
import { type ColumnPage, ColumnRun } from './column-run.ts';
import { PageSize } from './page-size.ts';
import { CsvFormat, type ExportedValue, type ExportFormat, NdjsonFormat, PIECE } from './export-format.ts';
import { FilePlaces } from '../../scheduling/file-places.ts';
import { must } from '../../must.ts';

/** The content of a file of measurements (CONTRACT 8). Times in milliseconds, start inclusive, end exclusive. */
export interface ExportQuery {
  format: 'csv' | 'ndjson';
  layout: 'long' | 'wide';
  /** null: every field. */
  fields: string[] | null;
  from: number;
  to: number;
  /** Buckets as in a chart (CONTRACT 7); null: every value. */
  chart: ChartedQuery | null;
  /** Texts that a spreadsheet would take for a formula get a leading apostrophe. */
  spreadsheet: boolean;
}

/** The choice of devices: all that the token may READ, narrowed like a list of devices; null: not narrowed that way. */
interface ExportChoice {
  productId: string | null;
  workspaceId: string | null;
  tags: string[];
  search: string | null;
  online: boolean | null;
  ids: string[] | null;
}

/** A file: its type, and its bytes in pieces. */
export interface Export {
  contentType: string;
  bytes: AsyncGenerator<Uint8Array>;
}

interface ExporterDeps {
  authenticator: Pick<Authenticator, 'follow'>;
  store: MeasurementStore;
  history: History;
  devices: DeviceList;
  ingestCache: IngestCache;
  shares: FairScheduler;
}

/** Values per page of a field, and of all fields side by side; twice as many are in memory. */
const PAGE = 10_000;
const WIDE_PAGES = 100_000;
const SMALLEST_PAGE = 1_000;
/** Characters per page, for texts; one is up to 4,096 long. */
const PAGE_CHARACTERS = 1_000_000;
const WIDE_CHARACTERS = 4_000_000;
const DEVICES_PAGE = 200;
/** Bytes written per ms of the event loop, for their price. */
const BYTES_PER_MS = 40_000;
/** Price of finding a device, and of searching one of its fields, also without any values. */
const DEVICE_MS = 0.1;
const FIELD_MS = 0.1;
/** Price of a field's name, which is visited a few times. */
const NAME_MS = 0.0003;

/** Names of fields with their positions: a thousand products have up to 500,000. */
type Places = ReadonlyMap<string, number>;

/** The query of a file in progress. */
interface RunningQuery extends ExportQuery {
  turns: BackgroundTurns;
  /** Throws unless the device may still be read. */
  isAllowed: (device: DeviceInfo) => Promise<void>;
}

/** Exports measurements as CSV or NDJSON, in constant memory (CONTRACT 8). */
export class Exporter {
  readonly #deps: ExporterDeps;
  readonly #places = new FilePlaces('exports');

  constructor(deps: ExporterDeps) {
    this.#deps = deps;
  }

  /**
   * One device's history; BAD_USER_INPUT for a field that its product does not have, OVERLOADED when too many are in
   * progress. The bytes reject when the token is revoked meanwhile, or may no longer READ a device.
   */
  ofDevice(access: Access, device: DeviceInfo, query: ExportQuery): Export {
    async function* devices(): AsyncGenerator<DeviceInfo> {
      yield device;
    }
    return this.#export(access, query, { devices, known: placesOf(device.product.fields.keys()) });
  }

  /** The chosen devices' histories, in the order of creation; with the same errors, and those of the choice. */
  async ofMany(access: Access, choice: ExportChoice, query: ExportQuery): Promise<Export> {
    this.#places.require(access);
    const known = await this.#allFields(access, choice);
    // Keep the devices of the start: with fewer rights the file fails instead of looking complete.
    const devices = (turns: Turns): AsyncGenerator<DeviceInfo> => this.#chosen(access, choice, turns);
    return this.#export(access, query, { devices, known });
  }

  /** `known`: identifiers of all fields of the devices, with their positions. */
  #export(
    access: Access,
    query: ExportQuery,
    { devices, known }: { devices: (turns: Turns) => AsyncGenerator<DeviceInfo>; known: Places },
  ): Export {
    for (const field of query.fields ?? []) if (!known.has(field)) throw badInput(`fields: ${noField(access, field)}`);
    const wide = query.layout !== 'wide' ? null : query.fields === null ? known : placesOf(query.fields);
    if (query.format === 'ndjson')
      for (const name of ['device', 'timestamp'])
        if (wide?.has(name))
          throw badInput(`layout: the field "${name}" has no place beside the key of that name; use layout=long.`);
    this.#places.require(access);
    const columns = wide && [...wide.keys()];
    const format = query.format === 'csv' ? new CsvFormat(columns, query.spreadsheet) : new NdjsonFormat(columns);
    const turns = this.#deps.shares.backgroundOf(access);
    turns.spend(known.size * NAME_MS);
    const accessNow = this.#deps.authenticator.follow(access);
    const isAllowed = async (device: DeviceInfo): Promise<void> => (await accessNow()).requireDevice(device, 'READ');
    const written = this.#bytes(format, { ...query, turns, isAllowed }, eachInTurn(turns, devices(turns)), wide);
    return { contentType: format.contentType, bytes: this.#inTurns(access, turns, written, accessNow) };
  }

  async *#bytes(
    format: ExportFormat,
    query: RunningQuery,
    devices: AsyncGenerator<DeviceInfo>,
    wide: Places | null,
  ): AsyncGenerator<Uint8Array> {
    yield* format.header();
    for await (const device of devices) {
      await query.isAllowed(device);
      const pieces =
        query.chart !== null
          ? this.#charted(format, device, query, query.chart, wide)
          : wide === null
            ? this.#long(format, device, query)
            : this.#wide(format, device, query, wide);
      for await (const piece of pieces) {
        // Check again: the rows may have waited for a slow reader.
        await query.isAllowed(device);
        yield piece;
      }
    }
    if (format.out.length > 0) yield format.out.take();
  }

  async *#inTurns(
    access: Access,
    turns: Turns,
    bytes: AsyncGenerator<Uint8Array>,
    accessNow: () => Promise<Access>,
  ): AsyncGenerator<Uint8Array> {
    const leave = this.#places.take(access);
    try {
      await turns.next();
      for await (const piece of bytes) {
        await accessNow();
        // Charge before handing out: the reader may stop after this piece.
        turns.spend(piece.length / BYTES_PER_MS);
        yield piece;
        await turns.next();
      }
    } finally {
      leave();
    }
  }

  /** Finds devices on the file's account: charged to the token, they would slow down its own export. */
  async *#chosen(access: Access, choice: ExportChoice, { spend }: Turns): AsyncGenerator<DeviceInfo> {
    const query = { ...choice, orderBy: 'CREATED', descending: false, limit: DEVICES_PAGE } as const;
    let after: DevicePosition | null = null;
    do {
      const { items }: Page<ListedDevice> = await this.#deps.devices.page(access, { ...query, after }, { spend });
      // Ask together, for one query.
      const infos = await Promise.all(items.map(({ device }) => this.#deps.ingestCache.device(device.id)));
      // null: deleted in between.
      for (const info of infos) if (info !== null) yield seenDevice(access, info);
      after = items.length < DEVICES_PAGE ? null : (items.at(-1)?.position ?? null);
    } while (after !== null);
  }

  /** Writes a device's series in buckets: they are bounded, so one device is in memory at once. */
  async *#charted(
    format: ExportFormat,
    device: DeviceInfo,
    { fields: wanted, from, to, turns, isAllowed }: RunningQuery,
    chart: ChartedQuery,
    wide: Places | null,
  ): AsyncGenerator<Uint8Array> {
    const fields = fieldsOf(device, wanted).map(({ identifier }) => identifier);
    if (fields.length === 0) return;
    const series = await chartedSeries(this.#deps.history, device, { fields, from, to }, chart, turns);
    await isAllowed(device);
    yield* chartedRows(format, device.serialNumber, series, wide);
  }

  async *#long(format: ExportFormat, device: DeviceInfo, query: RunningQuery): AsyncGenerator<Uint8Array> {
    for (const field of fieldsOf(device, query.fields)) {
      format.begin(device.serialNumber, field.identifier);
      for await (const { timestamps, values } of this.#pages(device, field, query, {
        limit: PAGE,
        maxCharacters: PAGE_CHARACTERS,
      })) {
        for (let at = 0; at < timestamps.length; at += 1) {
          format.longRow(timestamps[at] as number, values[at] as ExportedValue);
          if (format.out.length >= PIECE) yield format.out.take();
        }
      }
    }
  }

  /**
   * Reads the columns of the device's own fields side by side; each row is the earliest time of any of them. The file's
   * columns may be those of a thousand products.
   */
  async *#wide(
    format: ExportFormat,
    device: DeviceInfo,
    query: RunningQuery,
    columns: Places,
  ): AsyncGenerator<Uint8Array> {
    format.begin(device.serialNumber, null);
    const placeOf = ({ identifier }: FieldInfo): number => must(columns.get(identifier));
    const fields = [...device.product.fields.values()].filter(({ identifier }) => columns.has(identifier));
    const page = {
      limit: Math.min(PAGE, Math.max(SMALLEST_PAGE, Math.floor(WIDE_PAGES / fields.length))),
      maxCharacters: Math.min(PAGE_CHARACTERS, Math.ceil(WIDE_CHARACTERS / fields.length)),
    };
    const runs = fields
      .sort((left, right) => placeOf(left) - placeOf(right))
      .map((field) => new ColumnRun(placeOf(field), this.#pages(device, field, query, page)));
    try {
      await Promise.all(runs.map((run) => run.advance()));
      for (;;) {
        let time = Infinity;
        const here: ColumnRun[] = [];
        for (const run of runs) {
          if (run.time < time) here.length = 0;
          if (run.time <= time) here.push(run);
          time = Math.min(time, run.time);
        }
        if (time === Infinity) break;
        format.wideRow(time, here);
        // Waits only at the end of a page.
        for (const run of here) if (!run.step()) await run.advance();
        if (format.out.length >= PIECE) yield format.out.take();
      }
    } finally {
      for (const run of runs) await run.end();
    }
  }

  /**
   * Yields one field's values in pages, reading the next while this one is written, without values that do not fit its
   * present type.
   */
  async *#pages(
    device: DeviceInfo,
    field: FieldInfo,
    { from: start, to, turns, isAllowed }: RunningQuery,
    most: { limit: number; maxCharacters: number },
  ): AsyncGenerator<ColumnPage> {
    const { key: fieldKey, type } = field;
    const range = { deviceKey: device.key, fieldKey, to, newestFirst: false };
    const size = new PageSize(most, type === 'STRING' || type === 'GEOLOCATION');
    const read = (from: number): Promise<Columns> => {
      const reading = turns.piece(() => this.#deps.store.range({ ...range, ...size.limits, from }, 'any'));
      // Ignore failures of a page that is no longer awaited.
      reading.catch(() => {});
      return reading;
    };
    for (let reading: Promise<Columns> | null = read(start); reading !== null;) {
      const columns: Columns = await reading;
      await isAllowed(device);
      const last = columns.timestamps.at(-1);
      reading = size.isLast(columns) || last === undefined ? null : read(last + 1);
      const page = shown(field, columns);
      if (page.timestamps.length > 0) yield page;
    }
  }

  /** Every field of the chosen devices' products that the token sees, without duplicates. */
  async #allFields(access: Access, choice: ExportChoice): Promise<Places> {
    const products: ProductInfo[] = [];
    for (const id of await this.#deps.devices.productIds(access, choice)) {
      const product = await this.#deps.ingestCache.product(id);
      if (product !== null) products.push(seenProduct(access, product));
    }
    const places = new Map<string, number>();
    await eachInTurns(products, ({ fields }) => {
      for (const name of fields.keys()) if (!places.has(name)) places.set(name, places.size);
    });
    return places;
  }
}

/** Yields devices as scheduled: those without values yield no bytes to charge. */
async function* eachInTurn(turns: Turns, devices: AsyncGenerator<DeviceInfo>): AsyncGenerator<DeviceInfo> {
  for await (const device of devices) {
    turns.spend(DEVICE_MS + device.product.fields.size * FIELD_MS);
    yield device;
    await turns.next();
  }
}

/** The values as clients see them, without those that do not fit the type. */
function shown(field: FieldInfo, { timestamps, values: stored }: Columns): ColumnPage {
  const values = stored.map((value) => fromStoredValue(field, value));
  if (!values.includes(null)) return { timestamps, values: values as ExportedValue[] };
  return {
    timestamps: timestamps.filter((_, at) => values[at] !== null),
    values: values.filter((value) => value !== null),
  };
}

function placesOf(names: Iterable<string>): Places {
  return new Map([...names].map((name, at) => [name, at]));
}

function fieldsOf(device: DeviceInfo, wanted: string[] | null): FieldInfo[] {
  const { fields } = device.product;
  if (wanted === null) return [...fields.values()];
  return wanted.flatMap((identifier) => fields.get(identifier) ?? []);
}
