import { createInterface } from 'node:readline';
import { generateLoad, type LoadResult, postRequest } from './generator.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';

/** What the bench asks of the writers; they answer with a LoadResult. */
export interface WritersOrder {
  port: number;
  deviceIds: string[];
  fields: number;
  connections: number;
  seconds: number;
  rate?: number;
}

/**
 * Writers in a process of their own, so that what a chart takes is not what the generator takes: one order a line in,
 * one result a line out.
 */
let clock = 1_600_000_000;
const headers = ['Content-Type: application/json', `Authorization: Token ${ADMIN_TOKEN}`];

async function write({ deviceIds, fields, ...load }: WritersOrder): Promise<LoadResult> {
  const next = (connection: number, sequence: number): Buffer => {
    clock += 1;
    const entries = Array.from({ length: fields }, (_, i) => `{"field":"field_${i}","value":${i + 0.25},"timestamp":${clock}}`); // oxfmt-ignore
    const device = deviceIds[(sequence * load.connections + connection) % deviceIds.length];
    return postRequest(`/v1/devices/${device}/record/`, headers, `[${entries.join(',')}]`);
  };
  return generateLoad({ ...load, next });
}

for await (const line of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(await write(JSON.parse(line) as WritersOrder)));
process.exit(0);
