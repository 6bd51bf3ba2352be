import type { CallParts } from '../../decoding/decoding.graphql.ts';

const PREVIEW = 160;

/** A call in one line: its method, its path where nothing else tells it apart, its query, and its body. */
export function callLine({ method, path, query, body }: CallParts): string {
  const asked = queryText(query);
  if (body !== '') return `${method} ${asked === '' ? '' : `${asked} `}${body.slice(0, PREVIEW)}`;
  return `${method} ${asked === '' ? path : asked.slice(0, PREVIEW)}`;
}

/** The query of a call as it stood in its address, with the question mark; the empty text: none. */
export function queryText(query: unknown): string {
  const pairs = Object.entries(query as Record<string, string[]>).flatMap(([name, values]) =>
    values.map((value) => [name, value]),
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
}

/** The devices of a call, by the names that people know; those that are unknown by what they were called. */
export function devicesOf({ run }: CallParts): { name: string; isKnown: boolean }[] {
  const devices = new Map<string, boolean>();
  for (const { device, matchedDevice } of run?.entries ?? []) {
    const name = matchedDevice?.name ?? device;
    if (name !== null && name !== '') devices.set(name, matchedDevice !== null);
  }
  return [...devices].map(([name, isKnown]) => ({ name, isKnown }));
}

/** Names of devices in the call that its product does not have. */
export function unknownDevicesOf(call: CallParts): string[] {
  const entries = call.run?.entries ?? [];
  const names = entries.filter(({ code }) => code === 'UNKNOWN_DEVICE').map(({ device }) => device);
  return [...new Set(names)].filter((name): name is string => name !== null && name !== '');
}
