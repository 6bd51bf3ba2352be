import type { FieldType } from '../api/schema-types.ts';

/** Sample values by type of field. */
const SAMPLES: Readonly<Record<FieldType, number | string | boolean>> = {
  FLOAT: 21.5,
  INTEGER: 42,
  BOOLEAN: true,
  STRING: 'hello',
  GEOLOCATION: '(52.52,13.405)',
};

const MAX_SAMPLES = 3;

interface LineFor {
  /** Address of the server, without a final slash. */
  origin: string;
  deviceId: string;
  secret: string;
  fields: readonly { identifier: string; type: FieldType }[];
}

/** A line for a shell that records one value of each of the first fields; it runs as it stands. */
export function curlLine({ origin, deviceId, secret, fields }: LineFor): string {
  const entries = fields
    .slice(0, MAX_SAMPLES)
    .map(({ identifier, type }) => ({ field: identifier, value: SAMPLES[type] }));
  return [
    `curl -X POST '${origin}/v1/devices/${deviceId}/record/'`,
    `-H 'Authorization: Token ${secret}'`,
    `-d '${JSON.stringify(entries)}'`,
  ].join(' \\\n  ');
}
