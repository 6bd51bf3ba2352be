import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, Info, Int, Resolver, Root } from 'type-graphql';
import type { Device } from '../../../domain/entities/device.ts';
import type { History } from '../../../domain/history/history.ts';
import type { FieldRole } from '../../../domain/entities/field.ts';
import type { DeviceInfo, IngestCache, ProductInfo } from '../../../domain/ingest-cache/ingest-cache.ts';
import { seenDevice } from '../../../domain/ingest-cache/seen-fields.ts';
import { badInput } from '../../../errors.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import { type Promised, whenKnown } from '../../context/promised.ts';
import { asksFor } from '../../operation/operation-plan.ts';
import { encodeCursor } from '../../paging/cursor.ts';
import { AFTER, FIRST, type Paging, readAfter, readFirst } from '../../paging/page.ts';
import type { Connection } from '../../types/connection.ts';
import { DateTime } from '../../types/date-time.ts';
import { DeviceObject } from '../../types/device.ts';
import { FieldRoleEnum } from '../../types/enums.ts';
import { HistoryArgs } from '../../types/history-args.ts';
import { MeasurementConnection, MeasurementObject, SeriesObject } from '../../types/measurement.ts';
import { StatisticsObject } from '../../types/statistics.ts';

/** A cursor is the field and direction it was made for, and the time of the value. */
const MEASUREMENTS: Paging<{ fieldKey: number; newestFirst: boolean; timestamp: number }> = {
  kind: 'measurement',
  shape: ['number', 'number', 'number'],
  keyOf: ({ fieldKey, newestFirst, timestamp }) => [fieldKey, newestFirst ? 1 : 0, timestamp],
};

/** The values of a device that is gone. */
const NOTHING = { edges: [], pageInfo: { hasNextPage: false, endCursor: null }, count: async () => 0 };

function withRoles({ fields }: ProductInfo, roles: readonly FieldRole[]): string[] {
  return [...fields.values()].flatMap(({ role, identifier }) => (role && roles.includes(role) ? [identifier] : []));
}

/** Values that a device measured (CONTRACT 7). */
@Resolver(() => DeviceObject)
export class DeviceValuesResolver {
  readonly #ingestCache: IngestCache;
  readonly #history: History;

  constructor(ingestCache: IngestCache, history: History) {
    this.#ingestCache = ingestCache;
    this.#history = history;
  }

  @FieldResolver(() => [MeasurementObject], {
    complexity: 2,
    description: 'The value with the latest measured time of each field (not the one received last).',
  })
  latest(
    @Root() device: Device,
    @Ctx() context: GraphqlContext,
    @Info() asked: GraphQLResolveInfo,
    @Arg('fields', () => [String], { nullable: true, description: 'Identifiers of the fields to show; left out: all.' })
    fields?: string[] | null,
    @Arg('anyFields', () => [String], {
      nullable: true,
      description: 'Identifiers of further fields to show, of which the product may lack some.',
    })
    anyFields?: string[] | null,
    @Arg('roles', () => [FieldRoleEnum], {
      nullable: true,
      description: 'Roles of further fields to show, where the product has such.',
    })
    roles?: FieldRole[] | null,
  ): Promised<MeasurementObject[]> {
    const wantedOf = ({ product }: DeviceInfo): readonly string[] | null | undefined => {
      if (anyFields == null && roles == null) return fields && context.sameList(asked, fields);
      return context.sameListOf(asked, product, () => [
        ...(fields ?? []),
        ...(anyFields ?? []).filter((identifier) => product.fields.has(identifier)),
        ...withRoles(product, roles ?? []),
      ]);
    };
    return whenKnown(this.#readable(device, context), (info) =>
      info === null ? [] : context.loaders.latest.load({ device: info, fields: wantedOf(info) }),
    );
  }

  @FieldResolver(() => [SeriesObject], { complexity: 50, description: 'One series for each field.' })
  async history(
    @Root() device: Device,
    @Ctx() context: GraphqlContext,
    @Args(() => HistoryArgs) query: HistoryArgs,
  ): Promise<SeriesObject[]> {
    const info = await this.#readable(device, context);
    return info === null ? [] : this.#history.series(info, query, context.points);
  }

  @FieldResolver(() => [StatisticsObject], {
    complexity: 50,
    description: 'A range of each field summed up. Start inclusive, end exclusive.',
  })
  async statistics(
    @Root() device: Device,
    @Ctx() context: GraphqlContext,
    @Info() asked: GraphQLResolveInfo,
    @Arg('from', () => DateTime, { description: 'Start of the range, inclusive.' }) from: number,
    @Arg('to', () => DateTime, { description: 'End of the range, exclusive; after from.' }) to: number,
    @Arg('fields', () => [String], {
      nullable: true,
      description: 'Identifiers of the fields to sum up; left out: all.',
    })
    fields?: string[] | null,
  ): Promise<StatisticsObject[]> {
    const info = await this.#readable(device, context);
    // Summaries do not hold falls: without these no values are read.
    const steps = asksFor(asked, ['difference', 'falls']);
    return info === null ? [] : this.#history.statistics(info, { fields, from, to, steps }, context.points);
  }

  @FieldResolver(() => MeasurementConnection, {
    complexity: 5,
    description: 'Raw values of one field, oldest first unless newestFirst. Start inclusive, end exclusive.',
  })
  async measurements(
    @Root() device: Device,
    @Ctx() context: GraphqlContext,
    @Arg('field', () => String, { description: 'The identifier of the field.' }) identifier: string,
    @Arg('from', () => DateTime, {
      nullable: true,
      description: 'Start of the time range, inclusive; left out: from the first value.',
    })
    from?: number | null,
    @Arg('to', () => DateTime, {
      nullable: true,
      description: 'End of the time range, exclusive; left out: to the last value.',
    })
    to?: number | null,
    @Arg('newestFirst', () => Boolean, {
      nullable: true,
      description: 'true: the newest value first; left out: the oldest.',
    })
    newestFirst?: boolean | null,
    @Arg('first', () => Int, FIRST) first?: number | null,
    @Arg('after', () => String, AFTER) after?: string | null,
  ): Promise<Connection<MeasurementObject>> {
    const limit = readFirst(first);
    const info = await this.#readable(device, context);
    if (info === null) return NOTHING;
    const backwards = newestFirst ?? false;
    const place = readAfter(MEASUREMENTS, after);
    const fieldKey = info.product.fields.get(identifier)?.key;
    if (place !== null && fieldKey !== undefined && (place[0] !== fieldKey || place[1] !== (backwards ? 1 : 0)))
      throw badInput('"after" is a cursor of another field or direction.');
    const page = await this.#history.page(
      info,
      {
        field: identifier,
        from: from ?? undefined,
        to: to ?? undefined,
        newestFirst: backwards,
        limit,
        after: place?.[2] as number | undefined,
      },
      context.points,
    );
    const { field, hasMore, lastTimestamp } = page;
    const cursorAt = (timestamp: number): string =>
      encodeCursor(MEASUREMENTS.kind, MEASUREMENTS.keyOf({ fieldKey: field.key, newestFirst: backwards, timestamp }));
    const edges = page.timestamps.map((timestamp, index) => ({
      get cursor() {
        return cursorAt(timestamp);
      },
      node: { field, timestamp, value: page.values[index] as number | boolean | string },
    }));
    // Values that do not fit the field's type are left out, also where they come last.
    return {
      edges,
      pageInfo: {
        hasNextPage: hasMore,
        get endCursor() {
          return lastTimestamp === null ? null : cursorAt(lastTimestamp);
        },
      },
      count: () => this.#history.count(info, { field: identifier, from, to }, context.points),
    };
  }

  /**
   * null: deleted since it was listed, which must not fail the list. Also guards parents that were not got by reading:
   * createDevices answers devices to tokens without scope READ.
   */
  #readable(device: Device, { access, budget }: GraphqlContext): Promised<DeviceInfo | null> {
    budget.check();
    return whenKnown(this.#ingestCache.cachedDevice(device.id) ?? this.#ingestCache.device(device.id), (info) => {
      if (info === null) return null;
      access.requireDevice(info, 'READ');
      return seenDevice(access, info);
    });
  }
}
