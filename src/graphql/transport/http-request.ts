import type Koa from 'koa';
import { parametersIn } from '../../domain/form-text.ts';
import { MOST_KEYS } from '../../domain/json-text.ts';
import { AppError } from '../../errors.ts';
import type { OperationRequest } from '../operation/operations.ts';
import { MAX_LEVELS, readJson } from './read-json.ts';

/** Of the JSON body that the request has, in characters. */
export function lengthOfBody({ request }: Koa.Context): number {
  const { body } = request as { body?: unknown };
  return typeof body === 'string' ? body.length : 0;
}

/** The operation that a request carries: in its JSON body, or by GET in its query. Throws AppError INVALID_BODY. */
export function readHttpRequest(context: Koa.Context): OperationRequest {
  const { query, variables, operationName, extensions } =
    context.method === 'GET' ? ofQuery(parametersIn(context.querystring)) : ofBody(context);
  if (typeof query !== 'string' || query === '') throw wrong('"query" must be the text of a GraphQL document.');
  if (!isRecordOrMissing(variables)) throw wrong('"variables" must be an object.');
  if (!isRecordOrMissing(extensions)) throw wrong('"extensions" must be an object.');
  if (operationName != null && typeof operationName !== 'string') throw wrong('"operationName" must be a text.');
  return { query, variables, operationName };
}

function ofBody(context: Koa.Context): Record<string, unknown> {
  const { body } = context.request as { body?: unknown };
  const value = typeof body === 'string' ? readJson(body) : null;
  if (isRecordOrMissing(value) && value != null) return value;
  throw wrong(
    context.is('json', '+json') === false
      ? 'Send it with the header "Content-Type: application/json".'
      : `Send one JSON object, nested no deeper than ${MAX_LEVELS} levels and with ${MOST_KEYS}: {"query": "…", "variables": {…}, "operationName": "…"}.`,
  );
}

function ofQuery(parameters: URLSearchParams): Record<string, unknown> {
  const json = (name: string): unknown => {
    const text = parameters.get(name);
    if (text === null || text === '') return null;
    const value = readJson(text);
    if (value === undefined)
      throw wrong(`"${name}" in the URL must be JSON, nested no deeper than ${MAX_LEVELS} levels.`);
    return value;
  };
  return {
    query: parameters.get('query'),
    operationName: parameters.get('operationName'),
    variables: json('variables'),
    extensions: json('extensions'),
  };
}

function isRecordOrMissing(value: unknown): value is Record<string, unknown> | null | undefined {
  return value == null || (typeof value === 'object' && !Array.isArray(value));
}

function wrong(message: string): AppError {
  return new AppError('INVALID_BODY', message);
}
