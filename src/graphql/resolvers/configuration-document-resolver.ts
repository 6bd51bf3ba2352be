import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import type { ConfigurationApply } from '../../domain/configuration/configuration-apply.ts';
import type { ConfigurationExport } from '../../domain/configuration/configuration-export.ts';
import type {
  ConfigurationInput,
  ConfigurationPlan,
  ConfigurationPlans,
} from '../../domain/configuration/configuration-plans.ts';
import { answerBytes } from '../context/answer-size.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { MAX_ANSWER_BYTES } from '../context/work-budget.ts';
import { ConfigurationPlanObject } from '../types/configuration-plan.ts';

const WORKSPACE = { nullable: true, description: 'The workspace; may be left out where the token sees only one.' };
const DOCUMENT = { description: 'YAML 1.2 without aliases, or JSON, as exportConfiguration writes it.' };
const SET = {
  nullable: true,
  description: 'A name for what this document owns, up to 64 characters; left out: the unnamed set.',
};
const PRUNE = {
  nullable: true,
  description: 'true: removes what the set owns and the document no longer names; left out: nothing is removed.',
};
const DELETE_DATA = { nullable: true, description: 'true: also removes what holds measurements, with them.' };
/** Characters of a document per millisecond of work on it. */
const PER_MS = 5_000;
/** Price of a plan beside what it answers: its lists have up to some thousand changes. */
const PRICE = 1_000;

/** Configuration as documents (CONTRACT 11). */
@Resolver()
export class ConfigurationDocumentResolver {
  readonly #exports: ConfigurationExport;
  readonly #plans: ConfigurationPlans;
  readonly #apply: ConfigurationApply;

  constructor(exports: ConfigurationExport, plans: ConfigurationPlans, apply: ConfigurationApply) {
    this.#exports = exports;
    this.#plans = plans;
    this.#apply = apply;
  }

  @Query(() => String, {
    complexity: 500,
    description:
      'The configuration of a workspace as one document in its normal form: defaults left out, keys in one order, no ids, ' +
      'times or secrets. For ADMINs who may READ.',
  })
  async exportConfiguration(
    @Ctx() { access, budget }: GraphqlContext,
    @Arg('workspaceId', () => ID, WORKSPACE) workspaceId?: string | null,
    @Arg('productKeys', () => [String], {
      nullable: true,
      description: 'Keys of the products to write, and nothing else; left out: all of the workspace.',
    })
    productKeys?: string[] | null,
    @Arg('devices', () => Boolean, {
      nullable: true,
      description: 'true: with the devices of these products; left out: without.',
    })
    devices?: boolean | null,
    @Arg('format', () => String, { nullable: true, description: 'YAML (if left out) or JSON.' })
    format?: string | null,
  ): Promise<string> {
    const text = await this.#exports.write(access, { workspaceId, productKeys, devices, format });
    budget.work(text.length / PER_MS);
    budget.took(text.length);
    return text;
  }

  @Mutation(() => ConfigurationPlanObject, {
    complexity: PRICE,
    description:
      'What applying the document would change, what others have changed meanwhile, and what keeps it from being applied. ' +
      'Runs the examples of changed decoders; changes nothing. For ADMINs who may READ.',
  })
  planConfiguration(
    @Ctx() context: GraphqlContext,
    @Arg('document', () => String, DOCUMENT) document: string,
    @Arg('workspaceId', () => ID, WORKSPACE) workspaceId?: string | null,
    @Arg('set', () => String, SET) set?: string | null,
    @Arg('prune', () => Boolean, PRUNE) prune?: boolean | null,
    @Arg('deleteData', () => Boolean, DELETE_DATA) deleteData?: boolean | null,
  ): Promise<ConfigurationPlanObject> {
    const input = { workspaceId, document, set, prune, deleteData };
    return told(context, input, this.#plans.plan(context.access, input));
  }

  @Mutation(() => ConfigurationPlanObject, {
    complexity: PRICE,
    description:
      'Does what the plan with that hash says, in one transaction, and answers it. PLAN_OUTDATED: something that it ' +
      'concerns has changed since; BAD_USER_INPUT: something is blocked. Nothing is applied then. For ADMINs who may READ ' +
      'and CONFIGURE.',
  })
  applyConfiguration(
    @Ctx() context: GraphqlContext,
    @Arg('document', () => String, DOCUMENT) document: string,
    @Arg('hash', () => String, { description: 'That of the plan.' }) hash: string,
    @Arg('workspaceId', () => ID, WORKSPACE) workspaceId?: string | null,
    @Arg('set', () => String, SET) set?: string | null,
    @Arg('prune', () => Boolean, PRUNE) prune?: boolean | null,
    @Arg('deleteData', () => Boolean, DELETE_DATA) deleteData?: boolean | null,
  ): Promise<ConfigurationPlanObject> {
    const input = { workspaceId, document, set, prune, deleteData };
    return told(context, input, this.#apply.apply(context.access, input, hash));
  }
}

/** The plan as it is answered, its work and bytes counted. */
async function told(
  { budget }: GraphqlContext,
  { document }: ConfigurationInput,
  planning: Promise<ConfigurationPlan>,
): Promise<ConfigurationPlanObject> {
  budget.work(document.length / PER_MS);
  const { hash, pending, drift, blocked } = await planning;
  budget.took(answerBytes([pending, drift, blocked], MAX_ANSWER_BYTES));
  return { hash, pending, drift, blocked };
}
