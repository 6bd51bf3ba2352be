import { type ExecutionResult, getArgumentValues, GraphQLError, type GraphQLResolveInfo, locatedError } from 'graphql';
import { MOST_ERRORS } from '../context/error-bounds.ts';
import type { PlannedField, PlannedType } from './operation-plan.ts';

/** What is asked of a planned operation: `variables` converted. */
interface PlannedRequest {
  fields: readonly PlannedField[];
  schema: GraphQLResolveInfo['schema'];
  fragments: GraphQLResolveInfo['fragments'];
  operation: GraphQLResolveInfo['operation'];
  rootValue: unknown;
  contextValue: unknown;
  variables: Record<string, unknown>;
}

/** A place in the answer: its path, and what becomes null when nothing can stand there. */
interface Place {
  container: Record<string | number, unknown>;
  key: string | number;
  nonNull: boolean;
  parent: Place | null;
  isNull: boolean;
}

/** What graphql-js would make an error of that no resolver threw. */
class Doubt extends Error {}
class TooManyErrors extends Error {}

/**
 * Runs a planned operation once. What is known is written into the answer at once, and only what a resolver promises is
 * waited for. null: graphql-js is to be asked, because something came that is none of a plan's business.
 */
export function executePlanned(request: PlannedRequest): ExecutionResult | null | Promise<ExecutionResult | null> {
  return new PlannedExecution(request).run();
}

class PlannedExecution {
  readonly #request: PlannedRequest;
  readonly #answer: { data: unknown } = { data: null };
  readonly #errors: GraphQLError[] = [];
  readonly #arguments = new Map<PlannedField, Record<string, unknown>>();
  readonly #infos = new Map<PlannedField, GraphQLResolveInfo>();
  #pending = 0;
  #isDoubtful = false;
  /** More fields failed than an answer tells of: nothing more is looked at. */
  #isOver = false;
  #end: ((result: ExecutionResult | null) => void) | null = null;

  constructor(request: PlannedRequest) {
    this.#request = request;
  }

  run(): ExecutionResult | null | Promise<ExecutionResult | null> {
    const { fields, rootValue } = this.#request;
    const place: Place = { container: this.#answer, key: 'data', nonNull: false, parent: null, isNull: false };
    this.#try(() => (this.#answer.data = this.#object(fields, rootValue ?? {}, place)));
    if (this.#isDoubtful || this.#isOver || this.#pending === 0) return this.#result();
    return new Promise((resolve) => (this.#end = resolve));
  }

  #result(): ExecutionResult | null {
    if (this.#isDoubtful) return null;
    const { data } = this.#answer as { data: Record<string, unknown> | null };
    return this.#errors.length === 0 ? { data } : { errors: this.#errors, data };
  }

  #try(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (error instanceof TooManyErrors) this.#isOver = true;
      else this.#isDoubtful = true;
    }
  }

  /** After a promise: the answer goes out when it was the last, or as soon as there is a doubt. */
  #settled(work: () => void): void {
    if (this.#isDoubtful || this.#isOver) return;
    this.#try(work);
    this.#pending -= 1;
    if (this.#pending === 0 || this.#isDoubtful || this.#isOver) this.#end?.(this.#result());
  }

  #object(fields: readonly PlannedField[], source: unknown, place: Place): unknown {
    const answer = emptyAnswer(fields);
    for (const field of fields) {
      if (field.constant !== null) answer[field.key] = field.constant;
      else if (field.resolve === null && field.type.isPlain)
        answer[field.key] = plain(field.type, property(source, field));
      else this.#field(field, source, answer, place);
    }
    return place.isNull ? null : answer;
  }

  #field(field: PlannedField, source: unknown, answer: Record<string, unknown>, parent: Place): void {
    let value: unknown;
    if (field.resolve === null) value = property(source, field);
    else {
      const given = this.#argumentsOf(field);
      try {
        value = field.resolve(source, given, this.#request.contextValue, this.#infoOf(field));
      } catch (error) {
        this.#fail(error, field, { container: answer, key: field.key, ...nonNull(field.type), parent });
        return;
      }
    }
    this.#put(field.type, value, field, answer, field.key, parent);
  }

  /** Writes the value into the answer, now or when it comes. */
  #put(
    type: PlannedType,
    value: unknown,
    field: PlannedField,
    container: Place['container'],
    key: string | number,
    parent: Place,
  ): void {
    if (isPromise(value)) {
      this.#pending += 1;
      value.then(
        (come) => this.#settled(() => this.#write(type, come, field, container, key, parent)),
        (error: unknown) => this.#settled(() => this.#fail(error, field, { container, key, ...nonNull(type), parent })),
      );
    } else this.#write(type, value, field, container, key, parent);
  }

  #write(
    type: PlannedType,
    value: unknown,
    field: PlannedField,
    container: Place['container'],
    key: string | number,
    parent: Place,
  ): void {
    if (value instanceof Error) this.#fail(value, field, { container, key, ...nonNull(type), parent });
    else if (value == null || (type.isPlain && !isPromised(value))) container[key] = plain(type, value);
    else {
      const place: Place = { container, key, ...nonNull(type), parent };
      container[key] =
        type.kind === 'list'
          ? this.#list(type.item, value, field, place)
          : this.#object((type as { fields: readonly PlannedField[] }).fields, value, place);
    }
  }

  #list(item: PlannedType, value: unknown, field: PlannedField, place: Place): unknown {
    if (!Array.isArray(value)) throw new Doubt();
    const answer: unknown[] = Array.from({ length: value.length }, () => null);
    const container = answer as unknown as Place['container'];
    for (let at = 0; at < value.length; at += 1) this.#put(item, value[at], field, container, at, place);
    return place.isNull ? null : answer;
  }

  /** Null takes the place of the nearest that may be null; what was null already says no more of it. */
  #fail(error: unknown, { nodes }: PlannedField, at: Place): void {
    let place = at;
    while (place.nonNull && place.parent !== null) place = place.parent;
    if (place.isNull) return;
    // Counted where it is answered (`Operations`): one more is too many.
    if (this.#errors.length > MOST_ERRORS) throw new TooManyErrors();
    place.isNull = true;
    place.container[place.key] = null;
    const path: (string | number)[] = [];
    for (let step: Place | null = at; step !== null && step.parent !== null; step = step.parent) path.unshift(step.key);
    this.#errors.push(locatedError(error, [...nodes], path));
  }

  #argumentsOf(field: PlannedField): Record<string, unknown> {
    let given = this.#arguments.get(field);
    if (given === undefined) {
      given = getArgumentValues(field.definition, field.nodes[0]!, this.#request.variables);
      this.#arguments.set(field, given);
    }
    return given;
  }

  /**
   * As much as resolvers of this schema look at: type-graphql reads nothing of it, introspection the schema, lists what
   * is asked of them.
   */
  #infoOf(field: PlannedField): GraphQLResolveInfo {
    let info = this.#infos.get(field);
    if (info === undefined) {
      const { schema, fragments, operation, variables: variableValues, rootValue } = this.#request;
      const { name: fieldName, nodes: fieldNodes, parentType, definition } = field;
      const facts = {
        fieldName,
        fieldNodes,
        parentType,
        returnType: definition.type,
        schema,
        fragments,
        operation,
        variableValues,
        rootValue,
      };
      info = facts as unknown as GraphQLResolveInfo;
      this.#infos.set(field, info);
    }
    return info;
  }
}

function nonNull({ nonNull: is }: PlannedType): { nonNull: boolean; isNull: boolean } {
  return { nonNull: is, isNull: false };
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/** A list of which each item is promised (`listInSlices`). */
function isPromised(value: unknown): boolean {
  return Array.isArray(value) && isPromise(value[0]);
}

function property(source: unknown, { name }: PlannedField): unknown {
  if (typeof source !== 'object' || source === null) throw new Doubt();
  const value = (source as Record<string, unknown>)[name];
  if (typeof value === 'function') throw new Doubt();
  return value;
}

const emptyAnswers = new WeakMap<readonly PlannedField[], Record<string, unknown>>();

/**
 * All the names in the order of the question, whatever comes when. As a copy it takes 8 bytes a value: an object to which
 * name after name is added takes 57, from a dozen on.
 */
function emptyAnswer(fields: readonly PlannedField[]): Record<string, unknown> {
  let empty = emptyAnswers.get(fields);
  if (empty === undefined) {
    empty = JSON.parse(`{${fields.map(({ key }) => `${JSON.stringify(key)}:null`).join()}}`) as Record<string, unknown>;
    emptyAnswers.set(fields, empty);
  }
  return { ...empty };
}

/** The answer to a value below which nothing is resolved. Throws Doubt. */
function plain(type: PlannedType, value: unknown): unknown {
  if (value == null) {
    if (type.nonNull) throw new Doubt();
    return null;
  }
  if (typeof value === 'object' && (value instanceof Error || isPromise(value))) throw new Doubt();
  switch (type.kind) {
    case 'leaf': {
      const answer = type.serialize(value);
      if (answer == null) throw new Doubt();
      return answer;
    }
    case 'list': {
      if (!Array.isArray(value)) throw new Doubt();
      return plainList(type.item, value);
    }
    case 'object': {
      const answer = emptyAnswer(type.fields);
      for (const field of type.fields) answer[field.key] = field.constant ?? plain(field.type, property(value, field));
      return answer;
    }
  }
}

/** The list itself while every item is its own answer: of 200,000 points nothing is copied. */
function plainList(item: PlannedType, values: readonly unknown[]): readonly unknown[] {
  let answers: unknown[] | null = null;
  for (let at = 0; at < values.length; at += 1) {
    const answer = plain(item, values[at]);
    if (answers === null && !Object.is(answer, values[at])) answers = values.slice(0, at);
    answers?.push(answer);
  }
  return answers ?? values;
}
