import { Arg, Ctx, ID, Mutation, Resolver } from 'type-graphql';
import { noteChange } from '../../domain/access/audit-trail.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import type { Recorder } from '../../domain/measurements/recorder.ts';
import type { MeasurementStore, Piece } from '../../domain/ports/store.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import type { IngestCache, DeviceInfo } from '../../domain/ingest-cache/ingest-cache.ts';
import { seenDevice } from '../../domain/ingest-cache/seen-fields.ts';
import type { TokenScope } from '../../domain/entities/token.ts';
import { AppError, badInput, notFound } from '../../errors.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { LIST_TIMES, priceOfEach } from '../operation/operation-cost.ts';
import { DateTime } from '../types/date-time.ts';
import { RecordResult } from '../types/decoder.ts';
import { DeleteResult, EntryInput } from '../types/measurement.ts';

const MAX_ENTRIES = 10_000;
/** Price of recording one. */
const ENTRY_PRICE = 0.1;
/** Entries from which reading them out of the request took milliseconds already. */
const MANY = 1_000;

interface MeasurementsResolverDeps {
  ingestCache: IngestCache;
  recorder: Recorder;
  store: MeasurementStore;
  shares: FairScheduler;
  now: () => number;
}

/** Writing and deleting measurements by hand. */
@Resolver()
export class MeasurementsResolver {
  readonly #deps: MeasurementsResolverDeps;

  constructor(deps: MeasurementsResolverDeps) {
    this.#deps = deps;
  }

  @Mutation(() => RecordResult, {
    // All may be rejected; `childComplexity` counts only a few.
    complexity: ({ args, childComplexity }) => priceOfEach(args['entries'], ENTRY_PRICE + childComplexity / LIST_TIMES),
    description: 'The twin of the record endpoint: same rules, but no write limit. Answers after the commit.',
  })
  async recordMeasurements(
    @Ctx() context: GraphqlContext,
    @Arg('deviceId', () => ID, { description: 'The device.' }) deviceId: string,
    @Arg('entries', () => [EntryInput], { description: 'The entries, at most 10,000.' }) entries: EntryInput[],
  ): Promise<RecordResult> {
    if (entries.length > MANY) {
      await yieldToEventLoop();
      await context.renew();
    }
    const device = await this.#device(context, deviceId, 'RECORD');
    if (entries.length > MAX_ENTRIES)
      throw new AppError('TOO_MANY_ENTRIES', `"entries": at most ${MAX_ENTRIES} at once, not ${entries.length}.`, {
        details: { limit: MAX_ENTRIES },
      });
    const sent = entries.map(({ field, value, timestamp }) =>
      timestamp == null ? { field, value } : { field, value, timestamp: timestamp / 1000 },
    );
    const receivedAt = this.#deps.now();
    const recheck = async (): Promise<DeviceInfo> => {
      await context.renew();
      return this.#device(context, deviceId, 'RECORD');
    };
    const { stored, rejected, ahead } = await this.#deps.recorder.record(device, sent, {
      limited: false,
      door: 'graphql',
      receivedAt,
      recheck,
    });
    const outcomes = rejected.map(({ index, code, message }) => {
      const entry = entries[index] as EntryInput;
      return {
        index,
        device: device.id,
        field: entry.field,
        value: entry.value,
        timestamp: entry.timestamp ?? null,
        code,
        message,
        matchedDeviceId: device.id,
        matchedFieldKey: device.product.fields.get(entry.field)?.key ?? null,
      };
    });
    return { stored, ahead: ahead ?? null, rejected: outcomes };
  }

  @Mutation(() => DeleteResult, {
    description: 'Start inclusive, end exclusive; fields left out: all fields. dryRun only counts.',
  })
  async deleteMeasurements(
    @Ctx() context: GraphqlContext,
    @Arg('deviceId', () => ID, { description: 'The device.' }) deviceId: string,
    @Arg('from', () => DateTime, { description: 'Start of the time range, inclusive.' }) from: number,
    @Arg('to', () => DateTime, { description: 'End of the time range, exclusive; after from.' }) to: number,
    @Arg('fields', () => [String], { nullable: true, description: 'Identifiers of the fields; left out: all.' })
    fields?: string[] | null,
    @Arg('dryRun', () => Boolean, { nullable: true, description: 'true: counts and deletes nothing; left out: false.' })
    dryRun?: boolean | null,
  ): Promise<DeleteResult> {
    const device = await this.#device(context, deviceId, 'CONFIGURE');
    if (from >= to) throw badInput('"from" must be before "to".');
    const fieldKeys = fields == null ? [...device.product.fieldsByKey.keys()] : keysOf(device, fields);
    const query = { deviceKey: device.key, fieldKeys, from, to, dryRun: dryRun ?? false };
    if (fieldKeys.length === 0) return { measurements: 0 };
    return { measurements: await this.#deps.store.remove(query, this.#allowedPieces(context, device)) };
  }

  /** Runs each piece of a long deletion in its turn, while the token may delete. */
  #allowedPieces(context: GraphqlContext, device: DeviceInfo): Piece {
    const { piece } = this.#deps.shares.backgroundOf(context.access);
    let pieces = 0;
    return (work) =>
      piece(async () => {
        await context.renew();
        context.access.requireDevice(device, 'CONFIGURE');
        // The first only counts.
        if ((pieces += 1) > 1) noteChange();
        return work();
      });
  }

  async #device({ access }: GraphqlContext, id: string, scope: TokenScope): Promise<DeviceInfo> {
    const device = await this.#deps.ingestCache.device(id);
    if (device === null) throw notFound('device', id);
    access.requireDevice(device, scope);
    return seenDevice(access, device);
  }
}

function keysOf(device: DeviceInfo, identifiers: string[]): number[] {
  const keys = identifiers.map((identifier) => {
    const field = device.product.fields.get(identifier);
    if (field === undefined)
      throw badInput(`The product has no field "${identifier.slice(0, 64)}" (identifiers are case-sensitive).`);
    return field.key;
  });
  return [...new Set(keys)];
}
