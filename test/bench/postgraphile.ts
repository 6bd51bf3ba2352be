import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import pg from 'pg';

/**
 * PostGraphile 5 over the same data in plain tables, as its users would have it: a row with the newest value for each
 * device and field. Takes the folder it is installed in and an empty database; prints its port.
 */
const [folder = '', url = ''] = process.argv.slice(2);
const DEVICES = 50;
const FIELDS = 10;

await fill();
const load = createRequire(join(folder, 'bench.js'));
const { postgraphile } = load('postgraphile') as { postgraphile: (preset: object) => Postgraphile };
const { PostGraphileAmberPreset: amber } = load('postgraphile/presets/amber') as { PostGraphileAmberPreset: object };
const { makePgService } = load('postgraphile/adaptors/pg') as { makePgService: (options: object) => object };
const { grafserv } = load('postgraphile/grafserv/node') as { grafserv: unknown };

interface Postgraphile {
  createServ: (adaptor: unknown) => { addTo: (server: unknown) => Promise<void> };
}

const served = postgraphile({
  extends: [amber],
  pgServices: [makePgService({ connectionString: url, schemas: ['plain'] })],
  grafserv: { graphqlPath: '/graphql', graphiql: false },
}).createServ(grafserv);
const server = createServer();
await served.addTo(server);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') console.log(JSON.stringify({ port: address.port }));
});
// The bench that started us is gone: so are we.
process.stdin.resume().on('end', () => process.exit(0));

async function fill(): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`
    create schema plain;
    create table plain.device (key int primary key, name text not null, online boolean not null, last_heard_at timestamptz not null);
    create table plain.field (key int primary key, identifier text not null, unit text not null);
    create table plain.latest (device_key int not null references plain.device, field_key int not null references plain.field,
      timestamp timestamptz not null, value float not null, primary key (device_key, field_key));
    create index on plain.latest (field_key);
    insert into plain.device select d, 'device ' || d, true, '2026-01-01T00:00:00Z' from generate_series(0, ${DEVICES - 1}) d;
    insert into plain.field select f, 'field_' || f, '°C' from generate_series(0, ${FIELDS - 1}) f;
    insert into plain.latest select d, f, '2026-01-01T00:00:00Z', 20 + (d % 100) / 7.0
      from generate_series(0, ${DEVICES - 1}) d, generate_series(0, ${FIELDS - 1}) f;
    analyze;
  `);
  await client.end();
}
