import { Arg, Ctx, ID, Mutation, Resolver } from 'type-graphql';
import type { CallStatus } from '../../domain/ports/store.ts';
import type { Replay } from '../../domain/replay/replay.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { DateTime } from '../types/date-time.ts';
import { CallStatusEnum } from '../types/enums.ts';
import { ReplayResult } from '../types/webhook-call.ts';

/** Running logged calls again (CONTRACT 5). */
@Resolver()
export class ReplayResolver {
  readonly #replay: Replay;

  constructor(replay: Replay) {
    this.#replay = replay;
  }

  @Mutation(() => ReplayResult, {
    complexity: 2000,
    description:
      'Runs logged calls through the active decoder and stores the result under their original receipt time. ' +
      'Calls must fit all that is given; nothing given: every call in the log. dryRun only reports. Start inclusive, end exclusive.',
  })
  async replayCalls(
    @Ctx() { access }: GraphqlContext,
    @Arg('productId', () => ID, { description: 'The product whose log it is.' }) productId: string,
    @Arg('callIds', () => [ID], { nullable: true, description: 'Only these calls, at most 1,000.' })
    callIds?: string[] | null,
    @Arg('from', () => DateTime, { nullable: true, description: 'Only calls received at this time or later.' })
    from?: number | null,
    @Arg('to', () => DateTime, { nullable: true, description: 'Only calls received before this time.' })
    to?: number | null,
    @Arg('status', () => [CallStatusEnum], { nullable: true, description: 'Only calls with one of these outcomes.' })
    status?: CallStatus[] | null,
    @Arg('dryRun', () => Boolean, {
      nullable: true,
      description: 'true: only reports and stores nothing; left out: false.',
    })
    dryRun?: boolean | null,
  ): Promise<ReplayResult> {
    const query = { callIds, from, to, status, dryRun };
    return this.#replay.replayCalls(access, productId, query);
  }
}
