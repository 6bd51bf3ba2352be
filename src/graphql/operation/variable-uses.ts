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

/** Maximum bytes of JSON that variables add to an operation by occurring several times in its lists and objects. */
const MOST_BYTES = 4 * 1_048_576;

/** Own part of an operation or fragment: how often each variable occurs in a list or an object, and its spreads. */
interface Part {
  uses: ReadonlyMap<string, number>;
  spreads: ReadonlySet<string>;
}

type Definition = OperationDefinitionNode | FragmentDefinitionNode;

/** Uses in kept documents: counted once. */
const found = new WeakMap<Definition, Part>();

/**
 * Bounds the size of an operation with its variables written into its lists and objects, before anything goes through
 * those. Expects a validated document. Throws AppError BAD_USER_INPUT, naming the variable.
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
    // No more than it was sent.
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

/** Uses in all that the operation reaches, each fragment once. */
function usesIn(
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  operation: OperationDefinitionNode,
): ReadonlyMap<string, number> {
  const own = partOf(operation);
  if (own.spreads.size === 0) return own.uses;
  const uses = new Map(own.uses);
  // Grows while it is visited.
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
