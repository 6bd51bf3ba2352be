/** The answer of a webhook in place of the counts, when its product or decoder sets one (CONTRACT 4). */
export interface WebhookAnswer {
  /** 200 to 299. */
  status: number;
  /** null: without a body. */
  contentType: string | null;
  body: string;
}

const MAX_BYTES = 16_384;
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,60}\/[\w!#$&^.+-]{1,60}(?: *; *[\w.-]{1,40}=(?:[\w.+-]{1,80}|"[\w .+-]{0,80}"))*$/;
/** Statuses without a body. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205]);
const TYPES = { text: 'text/plain; charset=utf-8', json: 'application/json' };

/**
 * Parses a given answer: `status` (200 if left out), `contentType`, `body` (a text as it is, anything else as its
 * JSON). Returns the mistake as a text that begins with the name of the part.
 */
export function readWebhookAnswer(given: unknown): WebhookAnswer | string {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return 'must be an object with "status", "contentType" and "body", each of which may be left out.';
  const { status, contentType, body, ...rest } = given as Record<string, unknown>;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined)
    return `"${unknown.slice(0, 40)}" is no part of it: there are "status", "contentType" and "body".`;
  const code = status ?? 200;
  if (typeof code !== 'number' || !Number.isInteger(code) || code < 200 || code > 299)
    return '"status" must be a whole number from 200 to 299: what is not kept is answered as such in any case.';
  const text = body === undefined || body === null ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  if (Buffer.byteLength(text) > MAX_BYTES) return `"body" has more than ${MAX_BYTES} bytes of UTF-8.`;
  if (WITHOUT_BODY.has(code))
    return text === '' ? { status: code, contentType: null, body: '' } : `"body": none goes with status ${code}.`;
  const type = contentType ?? (typeof body !== 'string' || /^\s*[[{]/.test(body) ? TYPES.json : TYPES.text);
  if (typeof type !== 'string' || !MEDIA_TYPE.test(type))
    return '"contentType" must be a media type such as application/json or text/plain; charset=utf-8.';
  return { status: code, contentType: text === '' && contentType == null ? null : type, body: text };
}
