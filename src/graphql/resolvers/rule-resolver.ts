import { Arg, Ctx, ID, Mutation, Resolver } from 'type-graphql';
import type { RuleService } from '../../domain/rules/rule-service.ts';
import type { RuleTrial } from '../../domain/rules/rule-trial.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { DateTime } from '../types/date-time.ts';
import { RuleInput } from '../types/rule-input.ts';
import { EpisodeObject, RuleObject } from '../types/rule.ts';

/** Rules (CONTRACT 12). */
@Resolver()
export class RuleResolver {
  readonly #rules: RuleService;
  readonly #trial: RuleTrial;

  constructor(rules: RuleService, trial: RuleTrial) {
    this.#rules = rules;
    this.#trial = trial;
  }

  @Mutation(() => RuleObject, {
    description:
      'Makes a rule, which watches from now on. With a key it is safe to send again: answers the rule of the product ' +
      'with that key when the input describes it, else CONFLICT naming the parts that differ.',
  })
  createRule(
    @Ctx() { access }: GraphqlContext,
    @Arg('productId', () => ID, { description: 'The product whose devices it watches.' }) productId: string,
    @Arg('input', () => RuleInput, { description: 'The rule.' }) input: RuleInput,
  ): Promise<RuleObject> {
    return this.#rules.create(access, productId, input);
  }

  @Mutation(() => RuleObject, {
    description: 'Changes a rule; its devices are judged again. Left out: unchanged. null: the default.',
  })
  updateRule(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the rule.' }) id: string,
    @Arg('input', () => RuleInput, { description: 'The rule as it is to be.' }) input: RuleInput,
  ): Promise<RuleObject> {
    return this.#rules.update(access, id, input);
  }

  @Mutation(() => ID, { description: 'Deletes a rule with its alerts.' })
  deleteRule(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the rule.' }) id: string,
  ): Promise<string> {
    return this.#rules.delete(access, id);
  }

  @Mutation(() => [EpisodeObject], {
    complexity: 500,
    description:
      "Over stored history; nobody is told. Give a rule's id, or an input with the product it would be of. Measured " +
      'times stand for the clock. Episodes that were over before `from` are left out.',
  })
  testRule(
    @Ctx() { access, points, asker }: GraphqlContext,
    @Arg('from', () => DateTime, { description: 'Inclusive.' }) from: number,
    @Arg('to', () => DateTime, { description: 'Exclusive.' }) to: number,
    @Arg('ruleId', () => ID, { nullable: true, description: 'A saved rule.' }) ruleId?: string | null,
    @Arg('productId', () => ID, { nullable: true, description: 'The product of the rule in `input`.' })
    productId?: string | null,
    @Arg('input', () => RuleInput, { nullable: true, description: 'A rule that need not be saved.' })
    input?: RuleInput | null,
    @Arg('deviceIds', () => [ID], {
      nullable: true,
      description: 'Devices of the product, at most 200; left out: all that the rule watches.',
    })
    deviceIds?: string[] | null,
  ): Promise<EpisodeObject[]> {
    return this.#trial.run(access, { ruleId, productId, input, deviceIds, from, to }, { points, asker });
  }
}
