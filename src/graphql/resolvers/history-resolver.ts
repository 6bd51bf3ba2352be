import { Arg, Args, Ctx, ID, Query, Resolver } from 'type-graphql';
import { MAX_DEVICES, type DeviceChoice } from '../../domain/history/device-choice.ts';
import type { History } from '../../domain/history/history.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { HistoryArgs } from '../types/history-args.ts';
import { DeviceHistoryObject } from '../types/measurement.ts';
import { must } from '../../must.ts';

/** Cost of each of many devices, beside what is asked of it. */
const COST_OF_A_DEVICE = 5;

/** The histories of many devices at once (CONTRACT 7). */
@Resolver()
export class HistoryResolver {
  readonly #choice: DeviceChoice;
  readonly #history: History;

  constructor(choice: DeviceChoice, history: History) {
    this.#choice = choice;
    this.#history = history;
  }

  @Query(() => [DeviceHistoryObject], {
    complexity: ({ args, childComplexity }) => {
      const ids: unknown = args['deviceIds'];
      return 50 + (Array.isArray(ids) ? ids.length : MAX_DEVICES) * (COST_OF_A_DEVICE + childComplexity);
    },
    description:
      'Many devices at once (at most 200): by ids, or all of a product, or all with these tags. A field that some of ' +
      'their products do not have is left out there.',
  })
  async history(
    @Ctx() { access, points, asker }: GraphqlContext,
    @Args(() => HistoryArgs) query: HistoryArgs,
    @Arg('deviceIds', () => [ID], {
      nullable: true,
      description: 'The devices, at most 200; give one of deviceIds, productId and tags.',
    })
    deviceIds?: string[] | null,
    @Arg('productId', () => ID, { nullable: true, description: 'All devices of this product, at most 200.' })
    productId?: string | null,
    @Arg('tags', () => [String], {
      nullable: true,
      description: 'All devices that have all of these tags, at most 200.',
    })
    tags?: string[] | null,
  ): Promise<DeviceHistoryObject[]> {
    const chosen = await this.#choice.choose(access, { deviceIds, productId, tags }, asker);
    const infos = chosen.map(({ info }) => info);
    const series = await this.#history.seriesOfMany(infos, query, points);
    return chosen.map(({ device }, i) => ({ device, series: must(series[i]) }));
  }
}
