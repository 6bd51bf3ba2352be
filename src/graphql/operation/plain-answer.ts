import type { PlannedField, PlannedType } from './operation-plan.ts';

/** Thrown where a value is not as simple as its type. */
const NOT_PLAIN = new Error('Not plain.');

/** Items per unit of work of a list of values, of which each is only converted. */
const ITEMS_PER_UNIT = 16;

/** Counts each object and list: the values that the answer has more, and their work in units of a field. */
type Count = (values: number, units: number) => void;

/** Answers a value below which nothing is resolved. Throws NOT_PLAIN, and what a type or `count` throws. */
export function plainAnswer(type: PlannedType, value: unknown, count: Count): unknown {
  if (value == null) {
    if (type.nonNull) throw NOT_PLAIN;
    return null;
  }
  if (typeof value === 'object' && (value instanceof Error || isPromise(value))) throw NOT_PLAIN;
  switch (type.kind) {
    case 'leaf': {
      const answer = type.serialize(value);
      if (answer == null) throw NOT_PLAIN;
      return answer;
    }
    case 'list': {
      if (!Array.isArray(value)) throw NOT_PLAIN;
      count(0, value.length / ITEMS_PER_UNIT);
      return plainList(type.item, value, count);
    }
    case 'object': {
      count(type.fields.length, type.fields.length);
      const answer = emptyAnswer(type.fields);
      for (const field of type.fields)
        answer[field.key] = field.constant ?? plainAnswer(field.type, propertyOf(value, field), count);
      return answer;
    }
  }
}

/** The list itself while every item is its own answer: points are not copied. */
function plainList(item: PlannedType, values: readonly unknown[], count: Count): readonly unknown[] {
  let answers: unknown[] | null = null;
  for (let at = 0; at < values.length; at += 1) {
    const answer = plainAnswer(item, values[at], count);
    if (answers === null && !Object.is(answer, values[at])) answers = values.slice(0, at);
    answers?.push(answer);
  }
  return answers ?? values;
}

/** Whether a resolver gave a promise. */
export function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/** The value of a field without a resolver. */
export function propertyOf(source: unknown, { name }: PlannedField): unknown {
  return typeof source === 'object' && source !== null ? (source as Record<string, unknown>)[name] : undefined;
}

const emptyAnswers = new WeakMap<readonly PlannedField[], Record<string, unknown>>();

/**
 * An object with all the names in the order of the selection, whatever comes when. A copy takes a seventh of the memory
 * of an object to which name after name is added.
 */
export function emptyAnswer(fields: readonly PlannedField[]): Record<string, unknown> {
  let empty = emptyAnswers.get(fields);
  if (empty === undefined) {
    empty = JSON.parse(`{${fields.map(({ key }) => `${JSON.stringify(key)}:null`).join()}}`) as Record<string, unknown>;
    emptyAnswers.set(fields, empty);
  }
  return { ...empty };
}
