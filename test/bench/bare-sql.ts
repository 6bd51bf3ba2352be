import Sqlite from 'better-sqlite3';
import Koa from 'koa';

/** The same data in plain tables behind a bare Koa app: one hand-written query and JSON.stringify for each route. Prints its port. */
const DEVICES = 50;
const FIELDS = 10;
const DAY = 1440;
const CALLS = 50;
const START = 1_767_225_600_000;

const db = new Sqlite(':memory:');
db.exec(`
  create table device (key integer primary key, id text unique, name text, last_heard_at integer);
  create table field (key integer primary key, identifier text, unit text);
  create table measurement (device integer, field integer, ts integer, value real, primary key (device, field, ts)) without rowid;
  create table call (id text primary key, received_at integer, method text, path text, body text, status text);
`);
db.transaction(() => {
  const add = (table: string, ...values: unknown[]) =>
    db.prepare(`insert into ${table} values (${values.map(() => '?').join(',')})`).run(...values);
  for (let field = 0; field < FIELDS; field += 1) add('field', field, `field_${field}`, '°C');
  for (let device = 0; device < DEVICES; device += 1) {
    add('device', device, `device-${device}`, `device ${device}`, START);
    for (let field = 0; field < FIELDS; field += 1)
      for (let at = 0; at < (device === 0 ? DAY : 1); at += 1)
        add('measurement', device, field, START + at * 60_000, 20 + (at % 100) / 7);
  }
  for (let call = 0; call < CALLS; call += 1)
    add('call', `call-${call}`, START + call, 'POST', '/integrations/api/x/', 'x'.repeat(200), 'NOTHING_STORED');
})();

const latest = db.prepare<{ d: number }, { identifier: string; unit: string; ts: number; value: number }>(`
  select f.identifier, f.unit, m.ts, m.value from field f join measurement m on m.device = @d and m.field = f.key
  and m.ts = (select max(ts) from measurement where device = @d and field = f.key)`);
const devices = db.prepare<[], { key: number; name: string; last_heard_at: number }>(
  'select * from device order by key limit 50',
);
const history = db.prepare<[number], { ts: number; value: number }>(
  'select ts, value from measurement where device = 0 and field = ? order by ts',
);
const calls = db.prepare('select * from call order by id desc limit 50');

function latestOf(device: number) {
  return latest.all({ d: device }).map(({ identifier, unit, ts, value }) => {
    return { timestamp: new Date(ts).toISOString(), value, field: { identifier, unit } };
  });
}

const ROUTES: Record<string, () => unknown> = {
  '/list': () =>
    devices.all().map(({ key, name, last_heard_at: heard }) => {
      return { name, online: true, lastHeardAt: new Date(heard).toISOString(), latest: latestOf(key) };
    }),
  '/device': () => latestOf(0),
  '/history': () =>
    Array.from({ length: FIELDS }, (_, field) => {
      const rows = history.all(field);
      return {
        field: `field_${field}`,
        timestamps: rows.map(({ ts }) => ts / 1000),
        values: rows.map(({ value }) => value),
      };
    }),
  '/calls': () => calls.all(),
};

const app = new Koa();
app.use(async (context) => {
  for await (const chunk of context.req) void chunk;
  context.type = 'application/json';
  context.body = JSON.stringify({ data: ROUTES[context.path]?.() });
});
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') console.log(JSON.stringify({ port: address.port }));
});
// The bench that started us is gone: so are we.
process.stdin.resume().on('end', () => process.exit(0));
