import type { DecoderRequestInput, UplinkInput } from '../../api/schema-types.ts';
import type { CallParts } from '../../decoding/decoding.graphql.ts';

/** What a decoder is tried on, as it stands in the form. `callId`: just as that call of the log came, nothing changed. */
export interface TrialInput {
  kind: 'request' | 'uplink';
  callId: string | null;
  method: string;
  /** Sub-path with the query, or a whole path from `/integrations/` on. */
  path: string;
  /** One `Name: value` on each line. */
  headers: string;
  body: string;
  /** Hexadecimal or base64. */
  bytes: string;
  port: string;
}

const JSON_HEADER = 'Content-Type: application/json';

/** The input to begin with. */
export function blankInput(kind: TrialInput['kind']): TrialInput {
  return { kind, callId: null, method: 'POST', path: '', headers: JSON_HEADER, body: '', bytes: '', port: '1' };
}

/** Whether there is nothing in it that a decoder could be tried on. */
export function isBlank({ kind, bytes, path, body }: TrialInput): boolean {
  return kind === 'uplink' ? bytes.trim() === '' : path.trim() === '' && body === '';
}

/** A logged call as input; below the webhook of its product the path is shown from there on. */
export function inputOfCall(call: CallParts, webhookId: string): TrialInput {
  const query = new URLSearchParams();
  for (const [name, values] of Object.entries(call.query as Record<string, string[]>))
    for (const value of values) query.append(name, value);
  const root = `/integrations/api/${webhookId}`;
  const path = call.path.startsWith(root) ? call.path.slice(root.length).replace(/^\//, '') : call.path;
  return {
    ...blankInput('request'),
    callId: call.id,
    method: call.method,
    path: query.size === 0 ? path : `${path}?${query.toString()}`,
    headers: headerLines(call.headers),
    body: call.body,
  };
}

/** The request of a stored example as input. */
export function inputOfRequest(request: DecoderRequestInput): TrialInput {
  return {
    ...blankInput('request'),
    method: request.method ?? 'POST',
    path: request.path ?? '',
    headers: headerLines(request.headers),
    body: request.body ?? '',
  };
}

/** What `testDecoder` is to be given. */
export function trialOf(input: TrialInput): { request?: DecoderRequestInput; callId?: string; uplink?: UplinkInput } {
  if (input.kind === 'uplink') return { uplink: { bytes: input.bytes, port: portOf(input) } };
  if (input.callId !== null) return { callId: input.callId };
  return { request: requestOf(input) };
}

/** The input as the call that an example keeps; bytes become the message that The Things Stack would send. */
export function exampleRequest(input: TrialInput, serialNumber: string | null): DecoderRequestInput {
  if (input.kind === 'request') return requestOf(input);
  const payload = { f_port: portOf(input), frm_payload: base64Of(input.bytes) };
  const message = { end_device_ids: { dev_eui: serialNumber ?? '0000000000000000' }, uplink_message: payload };
  return { method: 'POST', path: '/integrations/lorawan/tti/', body: JSON.stringify(message) };
}

function requestOf({ method, path, headers, body }: TrialInput): DecoderRequestInput {
  const named: Record<string, string> = {};
  for (const line of headers.split('\n')) {
    const at = line.indexOf(':');
    if (at > 0) named[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return { method, path, headers: named, body };
}

function headerLines(headers: unknown): string {
  const pairs: unknown[] = Array.isArray(headers) ? headers : Object.entries(headers ?? {});
  return (pairs as [string, unknown][]).map(([name, value]) => `${name}: ${String(value)}`).join('\n');
}

function portOf({ port }: TrialInput): number {
  return port.trim() === '' ? 1 : Number(port);
}

function base64Of(bytes: string): string {
  const hex = bytes.replace(/0x/gi, '').replace(/[\s:,-]/g, '');
  if (!/^(?:[0-9a-f]{2})*$/i.test(hex)) return bytes.replace(/\s/g, '');
  return btoa(String.fromCharCode(...(hex.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16))));
}
