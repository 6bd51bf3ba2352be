import { Arg, Ctx, FieldResolver, Int, Resolver, Root } from 'type-graphql';
import { type Fleet, requireFleet } from '../../../domain/fleet/fleet.ts';
import type { FleetPlaces } from '../../../domain/fleet/fleet-places.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import type { Promised } from '../../context/promised.ts';
import { priceOfList } from '../../operation/operation-cost.ts';
import { DayValuesObject, FailingDecoderObject, FleetObject, FleetPlaceObject } from '../../types/fleet.ts';
import { WorkspaceObject } from '../../types/workspace.ts';

/** Price of a count of devices. */
const COUNT = 10;
/** Price of looking through the newest values of all devices. */
const LOOK = 200;
const DAY_MS = 86_400_000;
/** Places without a wish. */
const DEFAULT_PLACES = 1_000;
/** Bytes of a place in memory. */
const PLACE_BYTES = 300;

/** The fleet of a workspace, and where it is. */
@Resolver(() => WorkspaceObject)
export class WorkspaceFleetResolver {
  readonly #places: FleetPlaces;

  constructor(places: FleetPlaces) {
    this.#places = places;
  }

  @FieldResolver(() => FleetObject, {
    description: 'Its devices at a glance; not for tokens limited to products, devices or fields.',
  })
  fleet(@Root() { id }: WorkspaceObject, @Ctx() { access }: GraphqlContext): FleetObject {
    requireFleet(access, id);
    return { workspaceId: id };
  }

  @FieldResolver(() => [FleetPlaceObject], {
    complexity: ({ args, childComplexity }) => priceOfList(args['first'], DEFAULT_PLACES, childComplexity),
    description:
      'Where its devices were last: their newest value of the field with role LOCATION, else of the first field with places. Not for tokens limited to products, devices or fields.',
  })
  places(
    @Root() { id }: WorkspaceObject,
    @Ctx() { access, asker, budget, loaders }: GraphqlContext,
    @Arg('first', () => Int, { nullable: true, description: 'At most so many: 1 to 10,000; left out: 1,000.' })
    first?: number | null,
  ): Promised<FleetPlaceObject[]> {
    const most = first ?? DEFAULT_PLACES;
    return loaders.list(`places of ${id}, ${most}`, async () => {
      await budget.room(0);
      const places = await this.#places.list(access, id, most, asker);
      budget.holds(places.length * PLACE_BYTES);
      return places;
    });
  }
}

/** What is counted of a fleet, each only where it is asked for. */
@Resolver(() => FleetObject)
export class FleetResolver {
  readonly #fleet: Fleet;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  @FieldResolver(() => Int, { complexity: COUNT, description: 'The number of devices.' })
  devices(@Root() { workspaceId }: FleetObject, @Ctx() { access, asker }: GraphqlContext): Promise<number> {
    return this.#fleet.devices(access, workspaceId, asker);
  }

  @FieldResolver(() => Int, {
    complexity: COUNT,
    description: 'How many of them were heard of within their limit; the others are silent.',
  })
  online(@Root() { workspaceId }: FleetObject, @Ctx() { access, asker }: GraphqlContext): Promise<number> {
    return this.#fleet.devices(access, workspaceId, asker, true);
  }

  @FieldResolver(() => Int, {
    nullable: true,
    complexity: LOOK,
    description:
      'How many devices have a low battery, as the argument lowBattery of devices has it; null: there are over 10,000 devices.',
  })
  lowBattery(@Root() { workspaceId }: FleetObject, @Ctx() { access, asker }: GraphqlContext): Promise<number | null> {
    return this.#fleet.lowBattery(access, workspaceId, asker);
  }

  @FieldResolver(() => Int, { complexity: COUNT, description: 'The number of alerts that fire.' })
  firing(@Root() { workspaceId }: FleetObject, @Ctx() { access }: GraphqlContext): Promise<number> {
    return this.#fleet.firing(access, workspaceId);
  }

  @FieldResolver(() => Int, { complexity: COUNT, description: 'The number of unknownDevices of the workspace.' })
  unknownDevices(@Root() { workspaceId }: FleetObject, @Ctx() { access }: GraphqlContext): Promise<number> {
    return this.#fleet.unknown(access, workspaceId);
  }

  @FieldResolver(() => [FailingDecoderObject], {
    description:
      'Products whose newest call failed in the decoder, if it came within the last 24 hours; at most 100 of them.',
  })
  failingDecoders(
    @Root() { workspaceId }: FleetObject,
    @Ctx() { access, loaders }: GraphqlContext,
  ): Promised<FailingDecoderObject[]> {
    const read = async () => {
      const failing = await this.#fleet.failingDecoders(access, workspaceId);
      const products = await Promise.all(failing.map(async ({ productKey }) => loaders.product.load(productKey)));
      return failing.flatMap(({ lastFailedAt }, at) => {
        const product = products[at];
        return product == null ? [] : [{ product, lastFailedAt }];
      });
    };
    return loaders.list(`failing decoders of ${workspaceId}`, read);
  }

  @FieldResolver(() => [DayValuesObject], {
    description: 'The number of values stored on each of the last 14 days, the oldest first, today as far as it goes.',
  })
  valuesADay(
    @Root() { workspaceId }: FleetObject,
    @Ctx() { access, loaders }: GraphqlContext,
  ): Promised<DayValuesObject[]> {
    return loaders.list(`values a day of ${workspaceId}`, async () =>
      (await this.#fleet.valuesADay(access, workspaceId)).map(({ day, stored }) => ({
        day: new Date(day * DAY_MS).toISOString().slice(0, 10),
        values: stored,
      })),
    );
  }
}
