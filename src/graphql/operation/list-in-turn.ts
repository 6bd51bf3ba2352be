import type { FieldNode, GraphQLResolveInfo } from 'graphql';
import { EventLoopQueue } from '../../scheduling/event-loop-queue.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { inSlices } from '../context/list-in-slices.ts';
import { type Promised, whenKnown } from '../context/promised.ts';
import { answerTooLarge, MAX_ANSWER_BYTES } from '../context/work-budget.ts';
import { type FieldsBelow, fieldsBelow } from './operation-plan.ts';

/** Lists without pages are priced as so many items: shorter ones cost what their price says. */
const PRICED = 10;
/** What an operation may ask of longer ones before they come in turns: some 8 ms. */
const LITTLE = 20_000;
/** What is asked of one list in one turn; of more its items come a few at a time. */
const MUCH = 10_000;
/** About what a value takes until it stands in the answer, and in memory from then on. */
const VALUE_MS = 0.0004;
const VALUE_MEMORY = 40;
const GIVES_WAY_AFTER_MS = 5;
/** As JSON at least: `"a":0,`, and `0,` of a list of values. */
const FIELD_BYTES = 6;
const VALUE_BYTES = 2;

/** What an operation has asked of lists longer than their price so far. */
interface Asked {
  values: number;
  /** That its answer has at least. */
  bytes: number;
  /** By the first of its nodes: behind that of a fragment others may stand, where it is spread elsewhere. */
  readonly below: Map<FieldNode | undefined, { nodes: readonly FieldNode[]; fields: FieldsBelow }[]>;
}

const askedBy = new WeakMap<GraphqlContext, Asked>();
const turns = new EventLoopQueue(GIVES_WAY_AFTER_MS);

/**
 * The list, when it is its turn: one of 500 items is priced as ten, and two hundred things can be asked of each of its
 * items. Throws QUERY_TOO_COMPLEX as soon as it is certain that the answer is too long.
 */
export function listInTurn<Item>(list: Item[], context: GraphqlContext, info: GraphQLResolveInfo): Promised<Item[]> {
  // Where each item is promised, they come in slices.
  if (list.length <= PRICED || list[0] instanceof Promise) return list;
  const asked = askedBy.get(context) ?? { values: 0, bytes: 0, below: new Map() };
  askedBy.set(context, asked);
  const below = belowOf(asked, info);
  const values = list.length * (1 + below.most);
  asked.values += values;
  asked.bytes += list.length * (VALUE_BYTES + below.least * FIELD_BYTES);
  if (asked.bytes > MAX_ANSWER_BYTES) context.budget.end(answerTooLarge());
  context.budget.check();
  return whenKnown(context.budget.room(values * VALUE_MEMORY), () => {
    if (asked.values <= LITTLE) return list;
    if (values > MUCH && below.most > 0 && !context.isMutation) return inSlices(list, context);
    return turns.run(async () => {
      context.budget.check();
      return list;
    }, values * VALUE_MS);
  });
}

function belowOf({ below }: Asked, info: GraphQLResolveInfo): FieldsBelow {
  const { fieldNodes: nodes } = info;
  const known = below.get(nodes[0]) ?? [];
  const areSame = (others: readonly FieldNode[]): boolean =>
    others === nodes || (others.length === nodes.length && others.every((node, at) => node === nodes[at]));
  const before = known.find((one) => areSame(one.nodes));
  if (before !== undefined) return before.fields;
  const fields = fieldsBelow(info);
  below.set(nodes[0], [...known, { nodes, fields }]);
  return fields;
}
