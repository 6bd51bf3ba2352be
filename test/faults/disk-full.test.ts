import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createProduct, startServer } from '../support/server.ts';
import { SmallFileSystem } from '../support/small-file-system.ts';

const disk = SmallFileSystem.mount(16);
if (disk === null) console.warn('disk-full.test.ts is skipped: this user may not mount a tmpfs.');
afterAll(() => disk?.unmount());

const CREATE = 'mutation { createProduct(input: { name: "x" }) { id } }';

test.skipIf(disk === null)(
  'a full disk: 503 and not ready meanwhile, whole again by itself when there is room',
  async () => {
    const server = await startServer({
      alone: true,
      database: { url: `sqlite:${join(disk!.folder, 'inlet.db')}`, drop: async () => {} },
    });
    onTestFinished(async () => {
      disk!.free();
      await server.stop();
    });
    const fields = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`f${at}`, 'STRING']));
    const { deviceIds } = await createProduct(server, { fields });
    const acknowledged: number[] = [];
    let second = 1_700_000_000;
    const record = async (): Promise<number> => {
      const timestamp = (second += 1);
      const entries = Object.keys(fields).map((field) => ({
        field,
        value: `${field} ${timestamp} `.repeat(20),
        timestamp,
      }));
      const { status } = await server.record(deviceIds[0]!, entries);
      if (status === 200) acknowledged.push(timestamp);
      return status;
    };
    const code = async (): Promise<unknown> => (await server.query(CREATE)).errors?.[0]?.extensions.code ?? 'fine';
    const ready = async (): Promise<number> => (await fetch(`${server.url}/readyz`)).status;

    expect(await record()).toBe(200);
    for (let round = 0; round < 2; round += 1) {
      disk!.fill();
      // The write-ahead log may have some room left.
      await expect.poll(record, { interval: 0 }).toBe(503);
      await expect.poll(code, { interval: 0 }).toBe('UNAVAILABLE');
      await expect.poll(ready).toBe(503);
      // Many at once, as after an hour of it.
      const many = await Promise.all(Array.from({ length: 20 }, () => Promise.all([record(), code()])));
      expect(new Set(many.map(String))).toEqual(new Set(['503,UNAVAILABLE']));
      // Its own write is a short one, and may find room for once.
      await expect.poll(ready).toBe(503);

      disk!.free();
      for (;;) {
        const found = await Promise.all([record(), code(), ready()]);
        if (found.join() === '200,fine,200') break;
      }
    }
    const { device } = await server.gql(
      `query ($id: ID!) { device(id: $id) {
       history(from: "1970-01-01T00:00:00Z", to: "2030-01-01T00:00:00Z") { timestamps } } }`,
      { id: deviceIds[0] },
    );
    for (const { timestamps } of device.history) expect(timestamps).toEqual(acknowledged);
  },
);
