import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createProduct, EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';

const DECODER = `function Decoder(request) {\n  return [{ device: "d1", field: "T", value: Number(request.body) }];\n}\n`;

describe.each(EITHER_DATABASE)('inlet config, on %s', (database) => {
  let root: string;
  let server: TestServer;
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'inlet-config-'));
    server = await startServer({ database });
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(root, { recursive: true, force: true });
  });

  function inlet(args: string[], url = server.url): Promise<{ code: number | null; out: string; err: string }> {
    const env = { PATH: process.env['PATH'] ?? '', INLET_TOKEN: ADMIN_TOKEN, INLET_URL: url };
    const child = spawn(process.execPath, ['bin/inlet.mjs', 'config', ...args], { env });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    return new Promise((resolve) => child.on('exit', (code) => resolve({ code, out, err })));
  }

  function git(folder: string, ...args: string[]): string {
    const who = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'init.defaultBranch=main'];
    return execFileSync('git', ['-C', folder, ...who, ...args], { encoding: 'utf8' });
  }

  /** Changes the text of a file, which must have it. */
  function edit(file: string, from: string, to: string): void {
    const text = readFileSync(file, 'utf8');
    expect(text).toContain(from);
    writeFileSync(file, text.replace(from, to));
  }

  test('a workspace in git: cloned, changed, planned, applied; hand edits told, data protected', async () => {
    const product = await createProduct(server, {
      serialNumbers: ['d1'],
      input: {
        name: 'Thermometer',
        key: 'thermometer',
        fields: [
          { identifier: 'T', type: 'FLOAT', unit: '°C' },
          { identifier: 'OLD', type: 'FLOAT' },
        ],
        decoder: DECODER,
      },
    });
    await createProduct(server, { serialNumbers: [], input: { name: 'Öfen & Kessel' } });
    const origin = join(root, 'origin');
    expect(await inlet(['export', origin])).toMatchObject({ code: 0 });
    expect(readdirSync(join(origin, 'products')).toSorted()).toEqual([
      'o-fen-kessel.yaml',
      'thermometer.js',
      'thermometer.yaml',
    ]);
    expect(readFileSync(join(origin, 'products/thermometer.js'), 'utf8')).toBe(DECODER);
    git(origin, 'init', '-q');
    git(origin, 'add', '.');
    git(origin, 'commit', '-qm', 'as it is');

    const clone = join(root, 'clone');
    git(root, 'clone', '-q', origin, clone);
    const set = ['--set', 'house'];
    expect(await inlet(['plan', clone, ...set])).toMatchObject({ code: 0, out: 'nothing to do\n' });
    const file = join(clone, 'products/thermometer.yaml');
    edit(file, 'unit: °C', 'unit: K # of the lab');
    edit(join(clone, 'products/thermometer.js'), 'Number(request.body)', 'Number(request.body) + 273');
    writeFileSync(join(clone, 'products/new.yaml'), 'key: new\nname: New\n');
    git(clone, 'add', '.');
    git(clone, 'commit', '-qm', 'kelvin');
    const planned = await inlet(['plan', clone, ...set]);
    expect(planned.code).toBe(2);
    expect(planned.out).toMatch(/^\+ products\[new\] {2}\(.*new\.yaml\)$/m);
    expect(planned.out).toMatch(
      /^~ products\[thermometer\]\.fields\[T\]\.unit: "°C" → "K" {2}\(.*thermometer\.yaml\)$/m,
    );
    expect(planned.out).toMatch(/^~ products\[thermometer\]\.decoder\.source: /m);
    expect(await inlet(['apply', clone, ...set, '--dry-run'])).toMatchObject({ code: 2, out: planned.out });
    expect(await inlet(['apply', clone, ...set])).toMatchObject({ code: 0 });
    expect(await inlet(['plan', clone, ...set])).toMatchObject({ code: 0, out: 'nothing to do\n' });
    expect(await inlet(['apply', clone, ...set])).toMatchObject({ code: 0, out: 'nothing to do\n' });
    // What says the same stays as its author wrote it.
    expect(await inlet(['export', clone])).toMatchObject({ code: 0 });
    expect(git(clone, 'status', '--porcelain')).toBe('');

    await server.gql(
      'mutation ($id: ID!) { updateProduct(id: $id, input: { offlineAfterSeconds: 77 }) { id } }',
      product,
    );
    const drifted = await inlet(['plan', clone, ...set, '--json']);
    expect(drifted.code).toBe(3);
    expect(JSON.parse(drifted.out)).toMatchObject({
      drift: [{ path: 'products[thermometer].offlineAfterSeconds', before: null, after: 77 }],
      pending: [{ path: 'products[thermometer].offlineAfterSeconds', before: 77, after: null }],
      blocked: [],
    });
    expect(await inlet(['apply', clone, ...set])).toMatchObject({ code: 0 });

    // Nothing is removed without a prune, and nothing that holds data without saying so.
    await server.record(product.deviceIds[0]!, [{ field: 'OLD', value: 1, timestamp: 1_700_000_000 }]);
    edit(file, '  - identifier: OLD\n    type: FLOAT\n', '');
    rmSync(join(clone, 'products/new.yaml'));
    expect(await inlet(['plan', clone, ...set])).toMatchObject({ code: 0 });
    const blocked = await inlet(['apply', clone, ...set, '--prune']);
    expect(blocked.code).toBe(1);
    expect(blocked.out).toMatch(/^! products\[thermometer\]\.fields\[OLD\]: holds 1 measurement,/m);
    const pruned = await inlet(['apply', clone, ...set, '--prune', '--delete-data']);
    expect(pruned).toMatchObject({ code: 0 });
    expect(pruned.out).toMatch(/^- products\[new\]$/m);
    expect(pruned.out).toMatch(/^- products\[thermometer\]\.fields\[OLD\] \(with 1 measurements\)/m);
    expect(await inlet(['plan', clone, ...set, '--prune'])).toMatchObject({ code: 0 });
  });

  test('a folder goes to another server, with secrets for its tokens', async () => {
    const folder = join(root, 'moved');
    await inlet(['export', folder, '--devices']);
    expect(readFileSync(join(folder, 'devices.yaml'), 'utf8')).toContain('serialNumber: d1');
    writeFileSync(
      join(folder, 'inlet.yaml'),
      'tokens:\n  - name: display\n    scopes: [READ]\n    products: [thermometer]\n    fields: [T]\n',
    );
    const other = await startServer({ database });
    try {
      const secrets = join(root, 'secrets');
      expect(await inlet(['apply', folder, '--url', other.url, '--secrets', secrets])).toMatchObject({ code: 0 });
      expect(statSync(secrets).mode & 0o777).toBe(0o600);
      const { name, secret } = JSON.parse(readFileSync(secrets, 'utf8'));
      expect(name).toBe('display');
      const { products } = await other.gql('{ products { edges { node { key } } } }', {}, secret);
      expect(products.edges).toEqual([{ node: { key: 'thermometer' } }]);
      expect(await inlet(['plan', folder, '--url', other.url, '--token', other.adminToken])).toMatchObject({ code: 0 });
      // Again: no token is made, none gets another secret.
      expect(await inlet(['apply', folder, '--url', other.url, '--secrets', secrets])).toMatchObject({ code: 0 });
      expect(readFileSync(secrets, 'utf8').trim().split('\n')).toHaveLength(1);
    } finally {
      await other.stop();
    }
  });

  test('says what is wrong, and in which file', async () => {
    const folder = join(root, 'wrong');
    expect(await inlet(['plan', folder])).toMatchObject({
      code: 1,
      err: expect.stringContaining('there is no folder'),
    });
    await inlet(['export', folder]);
    const file = join(folder, 'products/thermometer.yaml');
    edit(file, 'identifier: T', 'identifier: T\n    units: x');
    const unknown = await inlet(['plan', folder]);
    expect(unknown.code).toBe(1);
    expect(unknown.out).toContain(`! products[thermometer].fields[T].units: unknown key`);
    expect(unknown.out).toContain(`(${file})`);
    writeFileSync(file, 'name: [');
    expect(await inlet(['plan', folder])).toMatchObject({ code: 1, err: expect.stringContaining(`${file}: line 1`) });
    writeFileSync(file, 'name: a\ndecoder: {file: ../../../etc/passwd}\n');
    expect(await inlet(['plan', folder])).toMatchObject({ code: 1, err: expect.stringContaining('lies outside of') });
    rmSync(folder, { recursive: true });
    expect(existsSync(folder)).toBe(false);
    expect(await inlet(['sync', folder])).toMatchObject({
      code: 1,
      err: expect.stringContaining('export, plan or apply'),
    });
  });
});
