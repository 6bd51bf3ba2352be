import {
  type ExecutionResult,
  getArgumentValues,
  GraphQLError,
  type GraphQLResolveInfo,
  locatedError,
  OperationTypeNode,
} from 'graphql';
import { isSliceOver, yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import type { AppError } from '../../errors.ts';
import { MAX_ERRORS, MAX_VALUES, tooManyErrors, tooManyValues } from '../context/answer-limits.ts';
import { GraphqlContext } from '../context/graphql-context.ts';
import type { PlannedField, PlannedType } from './operation-plan.ts';
import { emptyAnswer, isPromise, plainAnswer, propertyOf } from './plain-answer.ts';
import { must } from '../../must.ts';

/** Waits for the caller's turn again, or throws OVERLOADED. */
export type BetweenMutations = () => Promise<void>;

/** A planned operation and the facts of its run; `variables` converted. */
interface PlannedRequest {
  fields: readonly PlannedField[];
  schema: GraphQLResolveInfo['schema'];
  fragments: GraphQLResolveInfo['fragments'];
  operation: GraphQLResolveInfo['operation'];
  rootValue: unknown;
  contextValue: unknown;
  variables: Record<string, unknown>;
  betweenMutations?: BetweenMutations | undefined;
}

/** A place in the answer: its path, and the nearest one that becomes null when it fails. */
interface Place {
  container: Record<string | number, unknown>;
  key: string | number;
  nonNull: boolean;
  parent: Place | null;
  isNull: boolean;
}

/** Fields per look at the clock: each takes a few µs at most. */
const FIELDS_PER_LOOK = 100;
/** Ends all work that goes on at once: the operation has ended. */
const STOP = new Error('The operation has ended.');

/**
 * Runs a planned operation as graphql-js does. Known values are written into the answer at once, and only promised ones
 * are waited for; others are heard between slices of it. QUERY_TOO_COMPLEX ends it, and what is still loaded for it,
 * when the answer has too many values or errors.
 */
export function executePlanned(request: PlannedRequest): ExecutionResult | Promise<ExecutionResult> {
  return new PlannedExecution(request).run();
}

class PlannedExecution {
  readonly #request: PlannedRequest;
  readonly #answer: { data: unknown } = { data: null };
  readonly #errors: GraphQLError[] = [];
  readonly #arguments = new Map<PlannedField, Record<string, unknown>>();
  readonly #infos = new Map<PlannedField, GraphQLResolveInfo>();
  /** Promises and slices that are still to come. */
  #pending = 0;
  #later: (() => void)[] = [];
  #untilLook = FIELDS_PER_LOOK;
  #values = 0;
  #failures = 0;
  /** The error that ended it early. */
  #stopped: Error | null = null;
  /** `resolve` itself: V8 keeps the newest closure that is called here, and with it a whole answer, into old space. */
  #end: ((result: ExecutionResult) => void) | null = null;

  constructor(request: PlannedRequest) {
    this.#request = request;
  }

  run(): ExecutionResult | Promise<ExecutionResult> {
    const { fields, operation, rootValue } = this.#request;
    const source = rootValue ?? {};
    const root: Place = { container: this.#answer, key: 'data', nonNull: false, parent: null, isNull: false };
    if (operation.operation === OperationTypeNode.MUTATION) return this.#oneByOne(fields, source, root);
    this.#do(() => (this.#answer.data = this.#object(fields, source, root)));
    if (this.#isDone) return this.#result();
    return new Promise((resolve) => (this.#end = resolve));
  }

  /** Runs mutations one by one, each when the one before is answered; none after a failed one that must not be null. */
  async #oneByOne(fields: readonly PlannedField[], source: unknown, root: Place): Promise<ExecutionResult> {
    const answer = emptyAnswer(fields);
    this.#answer.data = answer;
    let isFirst = true;
    for (const field of fields) {
      const isMutation = field.constant === null;
      if (!isMutation || isFirst || (await this.#mayBegin(field, answer, root))) {
        const { promise, resolve } = Promise.withResolvers<ExecutionResult>();
        this.#end = resolve;
        this.#do(() => this.#field(field, source, answer, root));
        if (!this.#isDone) await promise;
      }
      if (isMutation) isFirst = false;
      if (this.#stopped !== null || root.isNull) break;
    }
    return this.#result();
  }

  /** Waits before a mutation that is not the first one; whether it may begin, as it fails otherwise. */
  async #mayBegin(field: PlannedField, answer: Place['container'], root: Place): Promise<boolean> {
    try {
      await this.#request.betweenMutations?.();
      return true;
    } catch (error) {
      this.#do(() => this.#fail(error, field, placeOf(field.type, answer, field.key, root)));
      return false;
    }
  }

  get #isDone(): boolean {
    return this.#pending === 0 || this.#stopped !== null;
  }

  #result(): ExecutionResult {
    const { data } = this.#answer as { data: Record<string, unknown> | null };
    if (this.#stopped === null) return this.#errors.length === 0 ? { data } : { errors: this.#errors, data };
    const { message } = this.#stopped;
    return { errors: [...this.#errors, new GraphQLError(message, { originalError: this.#stopped })], data: null };
  }

  #do(work: () => void): void {
    if (this.#stopped !== null) return;
    try {
      work();
    } catch (error) {
      this.#stopped ??= error as Error;
    }
  }

  #stop(error: AppError): never {
    this.#stopped = error;
    const { contextValue } = this.#request;
    if (contextValue instanceof GraphqlContext) contextValue.budget.end(error);
    throw STOP;
  }

  /** Goes on with pending work, in a later turn of the event loop when operations have had their slice of this one. */
  #goOn(work: () => void): void {
    if (!this.#isSliceOver()) return this.#finish(work);
    this.#later.push(work);
    if (this.#later.length === 1) void this.#goOnLater();
  }

  #finish(work: () => void): void {
    this.#do(work);
    this.#pending -= 1;
    if (this.#isDone) this.#end?.(this.#result());
  }

  async #goOnLater(): Promise<void> {
    for (let at = 0; at < this.#later.length;) {
      await yieldToEventLoop();
      do this.#finish(must(this.#later[at++]));
      while (at < this.#later.length && !this.#isSliceOver());
    }
    this.#later = [];
  }

  #isSliceOver(): boolean {
    this.#untilLook -= 1;
    if (this.#untilLook > 0) return false;
    if (isSliceOver()) return true;
    this.#untilLook = FIELDS_PER_LOOK;
    return false;
  }

  readonly #count = (values: number, units: number): void => {
    this.#untilLook -= units;
    this.#values += values;
    if (this.#values > MAX_VALUES) this.#stop(tooManyValues());
  };

  #object(fields: readonly PlannedField[], source: unknown, place: Place): unknown {
    this.#count(fields.length, fields.length);
    const answer = emptyAnswer(fields);
    for (const field of fields) this.#field(field, source, answer, place);
    return place.isNull ? null : answer;
  }

  #field(field: PlannedField, source: unknown, answer: Place['container'], parent: Place): void {
    if (field.constant !== null) {
      answer[field.key] = field.constant;
      return;
    }
    let value: unknown;
    try {
      value =
        field.resolve === null
          ? propertyOf(source, field)
          : field.resolve(source, this.#argumentsOf(field), this.#request.contextValue, this.#infoOf(field));
    } catch (error) {
      this.#fail(error, field, placeOf(field.type, answer, field.key, parent));
      return;
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
    if (isPromise(value)) this.#wait(type, value, field, container, key, parent);
    else this.#write(type, value, field, container, key, parent);
  }

  #wait(
    type: PlannedType,
    value: Promise<unknown>,
    field: PlannedField,
    container: Place['container'],
    key: string | number,
    parent: Place,
  ): void {
    this.#pending += 1;
    value.then(
      (come) => this.#goOn(() => this.#write(type, come, field, container, key, parent)),
      (error: unknown) => this.#goOn(() => this.#fail(error, field, placeOf(type, container, key, parent))),
    );
  }

  #write(
    type: PlannedType,
    value: unknown,
    field: PlannedField,
    container: Place['container'],
    key: string | number,
    parent: Place,
  ): void {
    if (type.isPlain) {
      const values = this.#values;
      try {
        container[key] = plainAnswer(type, value, this.#count);
        return;
      } catch (error) {
        if (error === STOP) throw error;
        this.#values = values;
      }
    }
    const place = placeOf(type, container, key, parent);
    try {
      container[key] = this.#complete(type, value, field, place);
    } catch (error) {
      if (error === STOP) throw error;
      this.#fail(error, field, place);
    }
  }

  /** Completes a value. Throws graphql-js's error where the value is none of the type. */
  #complete(type: PlannedType, value: unknown, field: PlannedField, place: Place): unknown {
    if (value instanceof Error) throw value;
    const name = `${field.parentType.name}.${field.name}`;
    if (value == null) {
      if (type.nonNull) throw new Error(`Cannot return null for non-nullable field ${name}.`);
      return null;
    }
    if (type.kind === 'object') return this.#object(type.fields, value, place);
    if (type.kind === 'leaf') {
      const answer = type.serialize(value);
      if (answer == null) throw new Error(`The value of ${name} serializes to nothing.`);
      return answer;
    }
    if (!Array.isArray(value)) throw new GraphQLError(`Expected Iterable, but did not find one for field "${name}".`);
    const items: unknown[] = Array.from({ length: value.length }, () => null);
    this.#items(type.item, value, field, { items: items as unknown as Place['container'], place, from: 0 });
    return place.isNull ? null : items;
  }

  /** Writes the items of a list from that one on: the rest of a long list goes on in a later turn. */
  #items(
    type: PlannedType,
    values: readonly unknown[],
    field: PlannedField,
    { items, place, from }: { items: Place['container']; place: Place; from: number },
  ): void {
    for (let at = from; at < values.length; at += 1) {
      if (at > from && this.#isSliceOver()) {
        this.#pending += 1;
        return this.#goOn(() => this.#items(type, values, field, { items, place, from: at }));
      }
      this.#put(type, values[at], field, items, at, place);
    }
  }

  /** Puts null into the nearest place that may be null; a place that was null already reports no more errors. */
  #fail(error: unknown, { nodes }: PlannedField, at: Place): void {
    this.#failures += 1;
    if (this.#failures > MAX_ERRORS) this.#stop(tooManyErrors());
    let place = at;
    while (place.nonNull && place.parent !== null) place = place.parent;
    if (place.isNull) return;
    place.isNull = true;
    place.container[place.key] = null;
    const path: (string | number)[] = [];
    for (let step: Place | null = at; step !== null && step.parent !== null; step = step.parent) path.unshift(step.key);
    this.#errors.push(locatedError(error, [...nodes], path));
  }

  #argumentsOf(field: PlannedField): Record<string, unknown> {
    let given = this.#arguments.get(field);
    if (given === undefined) {
      given = getArgumentValues(field.definition, must(field.nodes[0]), this.#request.variables);
      this.#arguments.set(field, given);
    }
    return given;
  }

  /** The facts that resolvers of this schema look at: type-graphql reads none of them, introspection the schema. */
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
      info = facts as GraphQLResolveInfo;
      this.#infos.set(field, info);
    }
    return info;
  }
}

function placeOf({ nonNull }: PlannedType, container: Place['container'], key: string | number, parent: Place): Place {
  return { container, key, nonNull, parent, isNull: false };
}
