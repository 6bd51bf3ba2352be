import { badInput } from '../../errors.ts';
import { parametersIn } from '../text/form-text.ts';
import type { CallRow } from '../ports/store.ts';
import { type HeaderList, headerOf, titleCase } from './header-names.ts';

/** A call as decoders see it (CONTRACT 5); `POST` follows from the rest. */
export interface DecoderRequest {
  method: string;
  /** `/integrations/…` as sent, without the query; of a message of the MQTT door its topic. */
  path: string;
  GET: Record<string, string[]>;
  headers: HeaderList;
  body: string;
}

/** The request a person types into the test tool (contract DecoderRequestInput). */
export interface DecoderRequestInput {
  method?: string | null;
  /** Sub-path after the webhook id with the query string, or a whole path beginning with `/integrations/`. */
  path?: string | null;
  /** Name → value or values, or a list of [name, value]. */
  headers?: unknown;
  body?: string | null;
}

/** Path before a product's webhook id in each of its calls (CONTRACT 4). */
export const WEBHOOK_ROOT = '/integrations/api/';
/** Beginning of the topics that call a webhook (CONTRACT 14); its id is behind it. */
export const WEBHOOK_TOPIC = 'webhook/';
const MQTT_METHOD = 'MQTT';
const MAX_TEXT = 1_048_576;
const METHOD = /^[A-Za-z]{1,20}$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/;
const FORM = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i;
/** Characters of a form that are read in one piece. */
const PIECE = 8_192;
const NO_PARAMETERS: Record<string, string[]> = Object.freeze(Object.create(null)) as Record<string, string[]>;

/** Names and values of a query or form. */
export function parseParameters(text: string): Record<string, string[]> {
  if (text === '') return NO_PARAMETERS;
  // No prototype, so that `__proto__` is a name like any other.
  const parameters = Object.create(null) as Record<string, string[]>;
  for (const [name, value] of parametersIn(text)) (parameters[name] ??= []).push(value);
  return parameters;
}

/** A message of a topic as decoders see it: method `MQTT`, the topic as path. */
export function requestOfMessage(topic: string, body: string): DecoderRequest {
  return { method: MQTT_METHOD, path: topic, GET: NO_PARAMETERS, headers: [], body };
}

/** Schedules the pieces of a form. */
interface FormTurns {
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** True when the body is read as a form. */
export function isForm({ method, body, headers }: DecoderRequest): boolean {
  return method === 'POST' && body !== '' && FORM.test(headerOf(headers, 'Content-Type') ?? '');
}

/** Input of a webhook's job, as JSON text. Reads forms piece by piece, each when scheduled. */
export async function webhookInput(request: DecoderRequest, turns: FormTurns): Promise<string> {
  const { method, path, body, headers, GET } = request;
  const POST = isForm(request) ? await parametersText(body, turns) : '{}';
  return `${JSON.stringify({ method, path, body, headers, GET }).slice(0, -1)},"POST":${POST}}`;
}

/** The JSON text of `parseParameters`, built without the object: a body may hold 100,000 names. */
async function parametersText(text: string, turns: FormTurns): Promise<string> {
  const lists = new Map<string, string>();
  const add = (piece: string): void => {
    for (const [name, value] of parametersIn(piece)) {
      const known = lists.get(name);
      lists.set(name, (known === undefined ? '' : `${known},`) + JSON.stringify(value));
    }
  };
  for (const piece of piecesOf(text)) await turns.run(async () => add(piece));
  return turns.run(
    async () => `{${Array.from(lists, ([name, list]) => `${JSON.stringify(name)}:[${list}]`).join(',')}}`,
  );
}

/** Splits a form; each piece but the first begins with its `&`, as a leading `?` would be dropped from the name. */
function* piecesOf(form: string): Generator<string> {
  for (let from = 0; from < form.length;) {
    const next = form.indexOf('&', from + PIECE);
    const end = next < 0 ? form.length : next;
    yield form.slice(from, end);
    from = end;
  }
}

/** The request of a logged call as the live call's decoder saw it, except that credentials stay masked. */
export function requestOfCall(row: Pick<CallRow, 'method' | 'path' | 'query' | 'headers' | 'body'>): DecoderRequest {
  return {
    method: row.method,
    path: row.path,
    GET: JSON.parse(row.query) as Record<string, string[]>,
    headers: Object.entries(JSON.parse(row.headers) as Record<string, string>),
    body: row.body,
  };
}

/** The request that a person typed in; BAD_USER_INPUT names the mistake. */
export function requestOfInput(input: DecoderRequestInput, webhookId: string): DecoderRequest {
  const body = input.body ?? '';
  if (body.length > MAX_TEXT) throw badInput(`request.body: at most ${MAX_TEXT} characters can be tried out.`);
  const method = input.method ?? (body === '' ? 'GET' : 'POST');
  if (!METHOD.test(method)) throw badInput('request.method: expected an HTTP method such as GET or POST.');
  const whole = input.path ?? '';
  if (whole.length > 16_384) throw badInput('request.path: at most 16384 characters.');
  if (method.toUpperCase() === MQTT_METHOD) return messageOfInput(input, whole, webhookId);
  const at = whole.indexOf('?');
  const path = at < 0 ? whole : whole.slice(0, at);
  const query = at < 0 ? '' : whole.slice(at + 1);
  return {
    method: method.toUpperCase(),
    path: path.startsWith('/integrations/') ? path : `${WEBHOOK_ROOT}${webhookId}/${path.replace(/^\/+/, '')}`,
    GET: parseParameters(query),
    headers: headersOfInput(input.headers),
    body,
  };
}

/** A message of the MQTT door: its path is a topic, which may have any character. */
function messageOfInput({ headers, body }: DecoderRequestInput, topic: string, webhookId: string): DecoderRequest {
  const path = topic.startsWith(WEBHOOK_TOPIC) ? topic : `${WEBHOOK_TOPIC}${webhookId}/${topic.replace(/^\/+/, '')}`;
  return { method: MQTT_METHOD, path, GET: NO_PARAMETERS, headers: headersOfInput(headers), body: body ?? '' };
}

function headersOfInput(headers: unknown): HeaderList {
  if (headers === null || headers === undefined) return [];
  if (typeof headers !== 'object') throw badInput('request.headers: expected an object of names and values.');
  const pairs: unknown[] = Array.isArray(headers) ? headers : Object.entries(headers);
  if (pairs.length > 200) throw badInput('request.headers: at most 200 headers.');
  const byName = new Map<string, string>();
  for (const pair of pairs) {
    const [name, given] = Array.isArray(pair) ? (pair as unknown[]) : [];
    const values = Array.isArray(given) ? (given as unknown[]) : [given];
    if (typeof name !== 'string' || !HEADER_NAME.test(name))
      throw badInput('request.headers: expected an object of header names and values.');
    if (!values.every((value) => ['string', 'number', 'boolean'].includes(typeof value)))
      throw badInput(`request.headers.${name}: expected a text or a list of texts.`);
    const title = titleCase(name);
    const known = byName.get(title);
    byName.set(title, (known === undefined ? '' : `${known}, `) + values.map(String).join(', '));
  }
  return [...byName];
}
