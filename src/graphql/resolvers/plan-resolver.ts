import { Ctx, Query, Resolver } from 'type-graphql';
import { PLANS } from '../../domain/plans/plans.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { PlanObject } from '../types/plan.ts';

/** The plans to choose from; the same for everybody who has a token. */
@Resolver()
export class PlanResolver {
  @Query(() => [PlanObject], {
    complexity: ({ childComplexity }) => 1 + 5 * childComplexity,
    description: 'Every plan, the smallest first.',
  })
  plans(@Ctx() context: GraphqlContext): readonly PlanObject[] {
    // Throws without a token.
    void context.access;
    return PLANS;
  }
}
