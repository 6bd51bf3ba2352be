import { expect, test } from 'vitest';
import { Exporter } from '../../src/domain/transfer/exporter.ts';
import { expectAsFast } from './reference.ts';

const FIELD = { key: 1, identifier: 'f', type: 'FLOAT' };
const ALL = { layout: 'long', fields: null, from: 0, to: 1e15, chart: null, spreadsheet: false } as const;
/** Had at once. */
const TURNS = { next: async () => {}, spend: () => {}, piece: (work: () => Promise<unknown>) => work() };

test.each([null, { resolution: null, maxPoints: 400, timeZone: null }])(
  'a row takes no longer for all that devices of other products have, chart: %s',
  async (chart) => {
    const products = Array.from({ length: 200 }, (_, no) => {
      const fields = Array.from({ length: 500 }, (__, key) => ({ ...FIELD, identifier: `p${no}f${key}`, key }));
      return { fields: new Map(fields.map((field) => [field.identifier, field])) };
    });
    const field = { ...FIELD, identifier: 'p150f0' };
    const product = { fields: new Map([[field.identifier, field]]) };
    const timestamps = Array.from({ length: 40 }, (_, at) => at);
    const series = [{ field, timestamps, values: timestamps, truncated: false }];
    const files = new Exporter({
      authenticator: { follow: () => async () => ({ requireDevice: () => {} }) },
      shares: { backgroundOf: () => TURNS },
      store: { range: async () => ({ timestamps: timestamps.map((at) => at * 1000), values: timestamps }) },
      history: { series: async () => series },
      devices: {
        productIds: async () => products.map((_, no) => String(no)),
        page: async () => ({ items: Array.from({ length: 20 }, (_, id) => ({ device: { id } })) }),
      },
      ingestCache: {
        product: async (id: string) => products[Number(id)],
        device: async (key: number) => ({ key, id: 'd', serialNumber: 's', product }),
      },
    } as unknown as ConstructorParameters<typeof Exporter>[0]);
    const access = { tokenId: 't', tenant: 'w' } as Parameters<Exporter['ofMany']>[0];
    const choice = {} as Parameters<Exporter['ofMany']>[1];
    const query = { ...ALL, format: 'ndjson', layout: 'wide', chart } as const;
    let text = '';
    const from = process.cpuUsage();
    const { bytes } = await files.ofMany(access, choice, query);
    for await (const piece of bytes) text += Buffer.from(piece).toString();
    const { user, system } = process.cpuUsage(from);
    expectAsFast('export beside 100,000 columns of others', (user + system) / 1000);
    const rows = text.trimEnd().split('\n');
    expect(rows.length).toBe(800);
    expect(rows[1]).toBe('{"device":"s","timestamp":"1970-01-01T00:00:01.000Z","p150f0":1}');
  },
);
