import { ADMIN_TOKEN } from './server-process.ts';

const FORM = 'application/x-www-form-urlencoded';
/** What the device of the bodies of networks is called. */
export const EUI = '70b3d57ed0000001';
/** Tags of a line; their values together are longer than an identifier. */
const TAGS = many(50_000, (at) => `,t${at}=aaaa`).join('');
const PLACE = `${'1'.repeat(95)},${'1'.repeat(95)}`;

/** A list of that length. */
export function many<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

function uplink(decoded: unknown, more: object = {}): object {
  return { end_device_ids: { dev_eui: EUI }, uplink_message: { decoded_payload: decoded, f_port: 1, ...more } };
}

/** JSON of an object in an object, and so on. */
export function nested(levels: number): string {
  return '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);
}

/** A message of The Things Stack with 49,000 objects. */
export const objects = (eui: string): string =>
  `{"end_device_ids":{"dev_eui":"${eui}"},"uplink_message":{"decoded_payload":{"x":[${many(260, () => nested(190)).join()}]}}}`;
/** A server, a device of it whose serial number is `EUI`, and the webhook of a product with a decoder that says nothing. */
interface Ground {
  url: string;
  deviceId: string;
  webhookId: string;
}

/**
 * Bodies that once took the event loop as long as the name says, or were answered 500: name, status that is right, and
 * how it is sent. `ground` is asked when one is sent.
 */
export function heavyBodies(ground: () => Ground): [before: string, status: number, send: () => Promise<number>][] {
  async function post(path: string, body: unknown, type = 'application/json'): Promise<number> {
    const response = await fetch(ground().url + path, {
      method: 'POST',
      headers: { 'Content-Type': type, Authorization: `Token ${ADMIN_TOKEN}` },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    await response.arrayBuffer();
    return response.status;
  }

  const record = (body: unknown): Promise<number> => post(`/v1/devices/${ground().deviceId}/record/`, body);
  const network = (path: string, body: unknown): Promise<number> => post(`/integrations/${path}/`, body);

  return [
    ['10 s: places that are none', 400, () => record(many(4_000, () => ({ field: 'place', value: `${PLACE}x` })))],
    ['15 s: unknown places', 400, () => record(many(4_000, () => ({ field: 'spot', value: `${PLACE}x` })))],
    ['80 s: digits for nobody', 400, () => record([{ field: 'number', value: `${'1'.repeat(200_000)}x` }])],
    ['0.9 s: short digits for nobody', 400, () => record(many(2_400, (at) => ({ field: `f${at}`, value: `${'1'.repeat(390)}x` })))],
    ['minutes: a list under a long name', 202, () => network('lorawan/tti', uplink({ ['k'.repeat(500_000)]: many(10_000, () => 0) }))],
    ['minutes: a name of underlines', 200, () => network('lorawan/tti', uplink({ [`x${'_'.repeat(400_000)}x`]: 1 }))],
    ['minutes: NULs', 400, () => network('lorawan/tti', `${'\0'.repeat(500_000)}x\0`)],
    ['minutes: a channel', 200, () => network('lorawan/helium', { DevEUI_uplink: { DevEUI: EUI, payload_hex: '01', Channel: `${'1'.repeat(400_000)}x` } })],
    ['0.1 s: 49,000 objects', 200, () => network('lorawan/tti', objects(EUI))],
    ['500: deep text in a message', 202, () => network('lorawan/chirpstack', { deviceInfo: { devEui: EUI }, data: 'AQ==', objectJSON: nested(100_000) })],
    ['500: deep data', 202, () => network('particle', { coreid: EUI, data: nested(100_000) })],
    ['2.7 s: a form of names alone', 400, () => post('/integrations/particle/', 'a=&' + 'a&'.repeat(500_000), FORM)],
    ['0.4 s: such a form at a webhook', 200, () => post(`/integrations/api/${ground().webhookId}/`, 'a&'.repeat(250_000), FORM)],
    ['1 s: blanks and NULs', 400, () => record(' '.repeat(500_000) + 'x' + '\0'.repeat(500_000))],
    ['500: deep variables', 400, () => post('/graphql', `{"query":"{ __typename }","variables":${nested(150_000)}}`)],
    ['60 s: a line of many tags and fields', 400, () => post('/write', `a,device=${EUI}${TAGS} ${'b=1,'.repeat(9_000)}b=1`, 'text/plain')],
  ]; // oxfmt-ignore
}
