import type Koa from 'koa';
import { parametersIn } from '../../domain/text/form-text.ts';
import { MOST_KEYS } from '../../domain/text/json-text.ts';
import { AppError } from '../../errors.ts';
import type { OperationRequest } from '../operation/operations.ts';
import { MAX_LEVELS, readJson, whyUnread } from './read-json.ts';

/** Characters of the request's JSON body. */
export function lengthOfBody({ request }: Koa.Context): number {
  const { body } = request as { body?: unknown };
  return typeof body === 'string' ? body.length : 0;
}

const EXPECTED = 'Send one JSON object: {"query": "…", "variables": {…}, "operationName": "…"}.';

/** The operation that a request carries: in its JSON body, or by GET in its query. Throws AppError INVALID_BODY. */
export function readHttpRequest(context: Koa.Context): OperationRequest {
  const isGet = context.method === 'GET';
  const request = isGet ? ofQuery(parametersIn(context.querystring)) : ofBody(context);
  const { query, variables, operationName, extensions } = request;
  if (typeof query !== 'string' || query === '')
    throw wrong(isGet ? 'The URL has no "query": the text of a GraphQL document.' : queryMistake(request));
  if (!isRecordOrMissing(variables)) throw wrong(`"variables" must be an object, not ${kindOf(variables)}.`);
  if (!isRecordOrMissing(extensions)) throw wrong(`"extensions" must be an object, not ${kindOf(extensions)}.`);
  if (operationName != null && typeof operationName !== 'string')
    throw wrong(`"operationName" must be a text, not ${kindOf(operationName)}.`);
  return { query, variables, operationName };
}

function ofBody(context: Koa.Context): Record<string, unknown> {
  const { body } = context.request as { body?: unknown };
  if (typeof body !== 'string')
    throw wrong(
      context.is('json', '+json') === false
        ? 'Send it with the header "Content-Type: application/json".'
        : `The body is empty. ${EXPECTED}`,
    );
  const value = readJson(body);
  if (isRecordOrMissing(value) && value != null) return value;
  throw wrong(value === undefined ? unreadable(body) : shapeMistake(value));
}

/** The reason why a body is no object; the most likely paste comes first. */
function unreadable(text: string): string {
  const begin = text.slice(0, 200).trim();
  if (begin === '') return `The body is empty. ${EXPECTED}`;
  const excess = whyUnread(text);
  if (excess !== null) return `The body ${excess}. It may be nested ${MAX_LEVELS} levels deep and have ${MOST_KEYS}.`;
  if (/^\{\s*'?(?:query|variables|operationName)'?\s*:/.test(begin))
    return `The body is not JSON: its keys and texts must stand in double quotes. ${EXPECTED}`;
  if (/^(?:query|mutation|subscription|fragment)\b|^\{\s*[_A-Za-z]/.test(begin))
    return `The body is a GraphQL document, not JSON: put it into "query". ${EXPECTED}`;
  return `The body is not JSON (${mistakeIn(text)}). ${EXPECTED}`;
}

/** V8's words for the mistake. */
function mistakeIn(text: string): string {
  try {
    JSON.parse(text);
    return '';
  } catch (error) {
    return (error as Error).message.slice(0, 200).toWellFormed();
  }
}

function shapeMistake(value: unknown): string {
  if (Array.isArray(value))
    return `The body is a list: a request brings one operation, so send each of them by itself. ${EXPECTED}`;
  return `The body is ${kindOf(value)}. ${EXPECTED}`;
}

/** Maximum names that the message lists of a body without "query". */
const MOST_NAMED = 5;

function queryMistake(request: Record<string, unknown>): string {
  if ('query' in request)
    return request['query'] === ''
      ? '"query" is empty: it must be the text of a GraphQL document.'
      : `"query" must be the text of a GraphQL document, not ${kindOf(request['query'])}.`;
  if (isRecordOrMissing(request['extensions']) && request['extensions']?.['persistedQuery'] !== undefined)
    return 'The body has no "query": persisted queries are not taken here, so send the text of the document with each request.';
  const keys = Object.keys(request).slice(0, MOST_NAMED);
  const named = keys.map((key) => `"${key.slice(0, 40).toWellFormed()}"`).join(', ');
  return `The body has no "query"${named === '' ? '' : `, only ${named}`}. ${EXPECTED}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
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
