import { Arg, Ctx, FieldResolver, Int, Resolver, Root } from 'type-graphql';
import type { DecoderExamples } from '../../../domain/decoders/decoder-examples.ts';
import type { DecoderService } from '../../../domain/decoders/decoder-service.ts';
import type { Product } from '../../../domain/entities/product.ts';
import type { Replay } from '../../../domain/replay/replay.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import { type Promised, whenKnown } from '../../context/promised.ts';
import { DEFAULT_FIRST, FIRST, readFirst } from '../../paging/page.ts';
import { DecoderExampleObject, DecoderStatisticsObject, DecoderVersionObject } from '../../types/decoder.ts';
import { ProductObject } from '../../types/product.ts';
import { ReplayProgressObject } from '../../types/webhook-call.ts';
import { must } from '../../../must.ts';

/** The decoder of a product (CONTRACT 5). */
@Resolver(() => ProductObject)
export class ProductDecoderResolver {
  readonly #decoders: DecoderService;
  readonly #examples: DecoderExamples;
  readonly #replay: Replay;

  constructor(decoders: DecoderService, examples: DecoderExamples, replay: Replay) {
    this.#decoders = decoders;
    this.#examples = examples;
    this.#replay = replay;
  }

  @FieldResolver(() => DecoderVersionObject, { nullable: true, description: 'The active one.' })
  decoder(@Root() product: Product, @Ctx() { loaders }: GraphqlContext): Promised<DecoderVersionObject | null> {
    return loaders.activeDecoder.load(product);
  }

  @FieldResolver(() => [DecoderVersionObject], {
    complexity: ({ args, childComplexity }) => 1 + Math.max(1, args['first'] ?? DEFAULT_FIRST) * childComplexity,
    description: 'Its saved versions, newest first.',
  })
  decoderVersions(
    @Root() { id }: Product,
    @Ctx() { access, loaders }: GraphqlContext,
    @Arg('first', () => Int, FIRST) first?: number | null,
    @Arg('before', () => Int, {
      nullable: true,
      description: 'Only versions with a smaller number: the last one of the page before.',
    })
    before?: number | null,
  ): Promised<DecoderVersionObject[]> {
    const limit = readFirst(first);
    const read = () => this.#decoders.versions(access, id, limit, before ?? null);
    return loaders.list(`decoder versions of ${id}: ${limit} before ${before ?? ''}`, read);
  }

  @FieldResolver(() => [DecoderExampleObject], {
    description: 'What must go on working: the examples that run on every save, in the order in which they were added.',
  })
  decoderExamples(
    @Root() { id }: Product,
    @Ctx() { access, loaders }: GraphqlContext,
  ): Promised<DecoderExampleObject[]> {
    return loaders.list(`decoder examples of ${id}`, () => this.#examples.decoderExamples(access, id));
  }

  @FieldResolver(() => DecoderStatisticsObject, { description: 'How its decoder has been doing on this node.' })
  decoderStatistics(
    @Root() { id }: Product,
    @Ctx() { access, loaders }: GraphqlContext,
  ): Promised<DecoderStatisticsObject> {
    // Once for all names under which they are selected: the times of hundreds of runs are sorted for them.
    const read = async () => [await this.#decoders.statistics(access, id)];
    return whenKnown(loaders.list(`decoder statistics of ${id}`, read), ([statistics]) => must(statistics));
  }

  @FieldResolver(() => ReplayProgressObject, {
    nullable: true,
    description: 'Of this node. null: no replay is running, and the last one ran all its calls.',
  })
  replayProgress(@Root() { id }: Product, @Ctx() { access }: GraphqlContext): Promise<ReplayProgressObject | null> {
    return this.#replay.progress(access, id);
  }
}
