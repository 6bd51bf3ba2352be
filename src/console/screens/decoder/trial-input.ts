import type { DecoderRequestInput, UplinkInput } from '../../api/schema-types.ts';
import type { CallParts } from '../../decoding/decoding.graphql.ts';
import { readLocalTime } from '../../time/local-time.ts';

/** The input of a trial, as the form holds it. `callId`: that logged call without changes. */
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
  /** Id of the sending device; empty: the product's oldest. */
  deviceId: string;
  /** Receipt time at the network, in the form of `<input type="datetime-local">`; empty: now. */
  receivedAt: string;
  /** One `name: value` on each line, in place of the device's configuration; empty: the configuration. */
  variables: string;
}

const JSON_HEADER = 'Content-Type: application/json';

/** The first input. */
export function blankInput(kind: TrialInput['kind']): TrialInput {
  const request = { method: 'POST', path: '', headers: JSON_HEADER, body: '' };
  return { kind, callId: null, ...request, bytes: '', port: '1', deviceId: '', receivedAt: '', variables: '' };
}

/** True when the input is empty. */
export function isBlank({ kind, bytes, path, body }: TrialInput): boolean {
  return kind === 'uplink' ? bytes.trim() === '' : path.trim() === '' && body === '';
}

/** A logged call as input; its path begins behind the product's webhook, if it was sent there. */
export function inputOfCall(call: CallParts, webhookId: string): TrialInput {
  const query = new URLSearchParams();
  for (const [name, values] of Object.entries(call.query as Record<string, string[]>))
    for (const value of values) query.append(name, value);
  const root = call.method === 'MQTT' ? `webhook/${webhookId}` : `/integrations/api/${webhookId}`;
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

/** The arguments of `testDecoder`. */
export function trialOf(input: TrialInput): { request?: DecoderRequestInput; callId?: string; uplink?: UplinkInput } {
  if (input.kind === 'uplink') return { uplink: uplinkOf(input) };
  if (input.callId !== null) return { callId: input.callId };
  return { request: requestOf(input) };
}

/** The input as the call of an example; bytes become a message of The Things Stack. */
export function exampleRequest(
  input: TrialInput,
  devices: readonly { id: string; serialNumber: string }[],
): DecoderRequestInput {
  if (input.kind === 'request') return requestOf(input);
  const device = devices.find(({ id }) => id === input.deviceId) ?? devices[0];
  const receivedAt = readLocalTime(input.receivedAt);
  const message = {
    end_device_ids: { dev_eui: device?.serialNumber ?? '0000000000000000' },
    uplink_message: {
      f_port: portOf(input),
      frm_payload: btoa(String.fromCharCode(...readBytes(input.bytes).bytes)),
      ...(receivedAt === null ? {} : { received_at: receivedAt }),
    },
  };
  return { method: 'POST', path: '/integrations/lorawan/tti/', body: JSON.stringify(message) };
}

function uplinkOf(input: TrialInput): UplinkInput {
  const { bytes, deviceId, variables } = input;
  const recvTime = readLocalTime(input.receivedAt);
  return {
    bytes,
    port: portOf(input),
    ...(deviceId === '' ? {} : { deviceId }),
    ...(recvTime === null ? {} : { recvTime }),
    ...(variables.trim() === '' ? {} : { variables: namedLines(variables) }),
  };
}

function requestOf({ method, path, headers, body }: TrialInput): DecoderRequestInput {
  return { method, path, headers: namedLines(headers), body };
}

function namedLines(text: string): Record<string, string> {
  const named: Record<string, string> = {};
  for (const line of text.split('\n')) {
    const at = line.indexOf(':');
    if (at > 0) named[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return named;
}

function headerLines(headers: unknown): string {
  const pairs: unknown[] = Array.isArray(headers) ? headers : Object.entries(headers ?? {});
  return (pairs as [string, unknown][]).map(([name, value]) => `${name}: ${String(value)}`).join('\n');
}

function portOf({ port }: TrialInput): number {
  return port.trim() === '' ? 1 : Number(port);
}

/** The bytes as the server reads them: hexadecimal if possible, else base64; none if neither. */
export function readBytes(text: string): { bytes: readonly number[]; isHex: boolean } {
  const hex = text.replace(/0x/gi, '').replace(/[\s:,-]/g, '');
  if (/^(?:[0-9a-f]{2})*$/i.test(hex))
    return { bytes: (hex.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16)), isHex: true };
  try {
    const binary = atob(text.replace(/\s/g, '').replaceAll('-', '+').replaceAll('_', '/'));
    return { bytes: Array.from(binary, (one) => one.charCodeAt(0)), isHex: false };
  } catch {
    return { bytes: [], isHex: false };
  }
}
