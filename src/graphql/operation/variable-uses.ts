import {
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type ValueNode,
  valueFromASTUntyped,
  visit,
} from 'graphql';
import { badInput } from '../../errors.ts';
import { answerBytes } from '../context/answer-size.ts';

/** What variables may add to an operation by standing in its lists and objects several times, in bytes of JSON. */
const MOST_BYTES = 4 * 1_048_576;

/** What an operation or a fragment says itself: how often each variable stands in a list or an object, and its spreads. */
interface Part {
  uses: ReadonlyMap<string, number>;
  spreads: ReadonlySet<string>;
}

type Definition = OperationDefinitionNode | FragmentDefinitionNode;

/** Documents are kept: they are looked through once. */
const found = new WeakMap<Definition, Part>();

/**
 * Bounds what an operation comes to when its variables are written into the lists and objects that they stand in, before
 * anything goes through those: two thousand times a megabyte otherwise. Expects a validated document. Throws AppError
 * BAD_USER_INPUT, naming the variable.
 */
export function checkVariableUses(
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): void {
  const uses = usesIn(fragments, operation);
  let room = MOST_BYTES;
  for (const { variable, defaultValue } of operation.variableDefinitions ?? []) {
    const name = variable.name.value;
    const times = uses.get(name) ?? 0;
    // As often as it was sent.
    if (times <= 1) continue;
    const value = Object.hasOwn(variables, name) ? variables[name] : defaultValue && valueFromASTUntyped(defaultValue);
    room -= (times - 1) * answerBytes(value, room);
    if (room < 0)
      throw badInput(
        `"$${name}" stands ${times} times in lists and objects: what is repeated so may come to ${MOST_BYTES} bytes.`,
        { variable: name, allowed: MOST_BYTES },
      );
  }
}

/** Of all that the operation reaches, each fragment once. */
function usesIn(
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  operation: OperationDefinitionNode,
): ReadonlyMap<string, number> {
  const own = partOf(operation);
  if (own.spreads.size === 0) return own.uses;
  const uses = new Map(own.uses);
  // Grows while it is gone through.
  const reached = new Set(own.spreads);
  for (const name of reached) {
    const fragment = fragments.get(name);
    if (fragment === undefined) continue;
    const part = partOf(fragment);
    for (const [variable, times] of part.uses) uses.set(variable, (uses.get(variable) ?? 0) + times);
    for (const spread of part.spreads) reached.add(spread);
  }
  return uses;
}

function partOf(definition: Definition): Part {
  const before = found.get(definition);
  if (before !== undefined) return before;
  const uses = new Map<string, number>();
  const spreads = new Set<string>();
  visit(definition, {
    VariableDefinition: () => false,
    FragmentSpread: ({ name }) => void spreads.add(name.value),
    ListValue: (list) => count(list, uses),
    ObjectValue: (object) => count(object, uses),
  });
  const part = { uses, spreads };
  found.set(definition, part);
  return part;
}

/** `false`: `visit` goes no deeper. */
function count(value: ValueNode, uses: Map<string, number>): false {
  if (value.kind === Kind.VARIABLE) uses.set(value.name.value, (uses.get(value.name.value) ?? 0) + 1);
  else if (value.kind === Kind.LIST) for (const item of value.values) count(item, uses);
  else if (value.kind === Kind.OBJECT) for (const field of value.fields) count(field.value, uses);
  return false;
}
