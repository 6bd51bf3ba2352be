import { spawn, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import {
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import flags from '../../src/v8-flags.json' with { type: 'json' };
import { ServerProcess } from '../support/server-process.ts';
import { createDatabase, createProduct, DATABASES, startServer, type TestServer } from '../support/server.ts';
import { SmallFileSystem } from '../support/small-file-system.ts';
import { firstPush } from '../support/subscribe.ts';

/** `inlet …` as an operator runs it, to its end. */
function inlet(
  args: string[],
  env: Record<string, string>,
): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, ['bin/inlet.mjs', ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  return new Promise((resolve) => child.on('exit', (code) => resolve({ code, out, err })));
}

describe.each(DATABASES)('inlet token on %s', (name) => {
  test('makes another token of the operator beside the running server, none on an empty database', async () => {
    const database = await createDatabase(name);
    const env = { DATABASE_URL: database.url };
    expect((await inlet(['token'], env)).code).toBe(1);
    const server = await startServer({ database });
    const { code, out } = await inlet(['token', 'laptop'], env);
    expect(code).toBe(0);
    const { viewer } = await server.gql('{ viewer { token { name } user { operator } } }', {}, out.trim());
    expect(viewer).toEqual({ token: { name: 'laptop' }, user: { operator: true } });
    await server.stop();
    await database.drop();
  });
});

test('a first start that fails later has printed its token', async () => {
  const database = await createDatabase('postgres');
  const start = ServerProcess.start({ DATABASE_URL: database.url, ADMIN_TOKEN: '', REDIS_URL: 'redis://127.0.0.1:1' });
  await expect(start).rejects.toThrow(/REDIS_URL.*first start.*"token":"inl_/s);
  await database.drop();
});

test('what runs has V8’s flags on its command line, and the libraries know that it is production', async () => {
  const server = await startServer({ alone: true, database: 'sqlite' });
  const line = readFileSync(`/proc/${server.process.child.pid}/cmdline`, 'utf8').split('\0');
  expect(line).toEqual(expect.arrayContaining(flags));
  expect(server.process.lines.filter(({ msg }) => String(msg).includes('without flags'))).toEqual([]);
  await server.stop();

  const folder = mkdtempSync(join(tmpdir(), 'inlet-bare-'));
  writeFileSync(join(folder, 'tell.cjs'), `process.on('exit', () => console.error('NODE_ENV', process.env.NODE_ENV));`);
  const bare = spawn(process.execPath, ['--require', join(folder, 'tell.cjs'), 'dist/src/main.js'], {
    env: { DATABASE_URL: 'sqlite::memory:', PORT: '0' },
  });
  let [out, err] = ['', ''];
  bare.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  await new Promise<void>((resolve) =>
    bare.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()).includes('without flags') && resolve()),
  );
  const ended = new Promise((resolve) => bare.once('exit', resolve));
  bare.kill('SIGTERM');
  await ended;
  expect(out).toContain('"missing":["--max-semi-space-size=8"');
  expect(err).toContain('NODE_ENV production');
  rmSync(folder, { recursive: true });
});

describe('inlet with another Node', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'inlet-node-'));
    for (const folder of ['bin', 'dist/src/cli', 'node_modules/node/bin'])
      mkdirSync(join(root, folder), { recursive: true });
    copyFileSync('bin/inlet.mjs', join(root, 'bin/inlet.mjs'));
    writeFileSync(join(root, 'dist/src/cli/inlet.js'), "console.log('not with this Node')");
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  /** As Node 20 would run it. */
  function inletOnOldNode(): SpawnSyncReturns<string> {
    const old = "Object.defineProperty(process, 'versions', { value: { node: '20.1.0' } })";
    const options = ['--import', `data:text/javascript,${encodeURIComponent(old)}`];
    return spawnSync(process.execPath, [...options, join(root, 'bin/inlet.mjs'), 'backup', 'a b'], {
      encoding: 'utf8',
    });
  }

  test('hands over to the one beside the code, and ends as that one does', () => {
    const node = join(root, 'node_modules/node/bin/node');
    writeFileSync(node, '#!/bin/sh\necho "$2,$3"; exit 7\n', { mode: 0o755 });
    expect(inletOnOldNode()).toMatchObject({ status: 7, stdout: 'backup,a b\n', stderr: '' });
  });

  test('says what is missing', () => {
    expect(inletOnOldNode()).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('needs Node 24') });
    rmSync(join(root, 'dist'), { recursive: true });
    expect(inletOnOldNode()).toMatchObject({ status: 1, stderr: expect.stringContaining('"npm run build"') });
  });
});

describe('inlet backup, check and restore', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'inlet-backup-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('a backup made while writing goes on is whole, and brings back what was acknowledged before it', async () => {
    const path = join(folder, 'inlet.db');
    const copy = join(folder, 'copy.db');
    const env = { DATABASE_URL: `sqlite:${path}` };
    const database = { url: env.DATABASE_URL, drop: async () => {} };
    const server = await startServer({ database });
    const { deviceIds } = await createProduct(server);
    const sending = { on: true };
    let [second, before] = [1_700_000_000, 0];
    const send = async (): Promise<void> => {
      while (sending.on) {
        const timestamp = (second += 1);
        const { status } = await server.record(deviceIds[0]!, { field: 'temperature', value: timestamp, timestamp });
        expect(status).toBe(200);
        before += 1;
      }
    };
    const senders = [send(), send(), send()];
    await expect.poll(() => before).toBeGreaterThan(50);
    const acknowledged = before;
    expect(await inlet(['backup', copy], env)).toMatchObject({ code: 0, err: '' });
    sending.on = false;
    await Promise.all(senders);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(await inlet(['backup', copy], env)).toMatchObject({
      code: 1,
      err: `inlet backup: ${copy} is there already\n`,
    });
    expect(await inlet(['check', copy], env)).toMatchObject({ code: 0, out: `${copy}: whole\n` });
    expect(await inlet(['restore', copy], env)).toMatchObject({
      code: 1,
      err: expect.stringContaining('another Inlet'),
    });
    await server.stop();

    const torn = join(folder, 'torn.db');
    copyFileSync(copy, torn);
    truncateSync(torn, statSync(torn).size - 8_192);
    expect((await inlet(['check', torn], env)).code).toBe(1);
    expect((await inlet(['restore', torn], env)).code).toBe(1);

    expect(await inlet(['restore', copy], env)).toMatchObject({ code: 0, err: '' });
    expect(existsSync(`${path}.before-restore`)).toBe(true);
    const again = await startServer({ database });
    const { device } = await again.gql(
      `query ($id: ID!) { device(id: $id) {
         history(from: "1970-01-01T00:00:00Z", to: "2030-01-01T00:00:00Z") { timestamps } } }`,
      { id: deviceIds[0] },
    );
    expect(device.history[0].timestamps.length).toBeGreaterThanOrEqual(acknowledged);
    await again.stop();
  });

  test('restore takes the place of what is damaged, where a link leads to, and leaves it to its owner', async () => {
    const [disk, path, copy] = [join(folder, 'disk.db'), join(folder, 'inlet.db'), join(folder, 'copy.db')];
    symlinkSync(disk, path);
    const database = { url: `sqlite:${path}`, drop: async () => {} };
    await (await startServer({ database })).stop();
    const env = { DATABASE_URL: database.url };
    expect((await inlet(['backup', copy], env)).code).toBe(0);
    const isRoot = process.getuid?.() === 0;
    const [owner] = isRoot ? [65_534] : [statSync(disk).uid];
    if (isRoot) chownSync(disk, owner, owner);
    const damaged = Buffer.from(readFileSync(disk).fill('no pages', 4_096));
    writeFileSync(disk, damaged);
    expect((await inlet(['check'], env)).code).toBe(1);
    const said = `${disk}: restored from ${copy}; what was there is in ${disk}.before-restore\n`;
    expect(await inlet(['restore', copy], env)).toEqual({ code: 0, out: said, err: '' });
    expect(readFileSync(`${disk}.before-restore`).equals(damaged)).toBe(true);
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    for (const end of ['', '.lock', '.before-restore']) expect(statSync(disk + end).uid).toBe(owner);
    expect((await inlet(['check'], env)).code).toBe(0);
    // What a restore that was cut off has left, too.
    copyFileSync(copy, `${disk}.restoring`);
    expect((await inlet(['restore', `${disk}.restoring`], env)).code).toBe(0);
    expect((await inlet(['check'], env)).code).toBe(0);
    expect(readdirSync(folder).sort()).toEqual([
      'copy.db',
      'disk.db',
      'disk.db.before-restore',
      'disk.db.lock',
      'inlet.db',
    ]);
  });

  test('live values are not resumed beyond a restore: what came since would be passed over', async () => {
    const [path, copy] = [join(folder, 'inlet.db'), join(folder, 'copy.db')];
    const database = { url: `sqlite:${path}`, drop: async () => {} };
    const env = { DATABASE_URL: database.url };
    const [query, times] = [
      'subscription ($after: String) { measurementsRecorded(after: $after) { cursor measurements { value } } }',
      Array.from({ length: 20 }, (_, at) => 1_700_000_000 + at),
    ];
    const server = await startServer({ database });
    const { deviceIds } = await createProduct(server);
    const recordSome = async (on: TestServer): Promise<void> => {
      for (const timestamp of times) await on.record(deviceIds[0]!, { field: 'temperature', value: 1, timestamp });
    };
    await inlet(['backup', copy], env);
    const pushed = firstPush(server.url, server.adminToken, query, {});
    let isPushed = false;
    void pushed.then(() => (isPushed = true));
    await expect.poll(() => recordSome(server).then(() => isPushed)).toBe(true);
    const { cursor } = (await pushed)!.data!['measurementsRecorded'];
    await server.stop();
    expect((await inlet(['restore', copy], env)).code).toBe(0);
    const again = await startServer({ database });
    for (let round = 0; round < 3; round += 1) await recordSome(again);
    const [error] = (await firstPush(again.url, again.adminToken, query, { after: cursor }))!.errors!;
    expect(error!.extensions.code).toBe('CURSOR_EXPIRED');
    await again.stop();
  });

  const twentyMegabytes =
    'pragma journal_mode = delete; create table ballast (b); insert into ballast values (randomblob(20000000))';
  const fill = (path: string): unknown => new Sqlite(path).exec(twentyMegabytes).close();

  test('a copy for which there is no room is not begun: it would fill the disk, and nothing could be stored', async () => {
    const small = SmallFileSystem.mount(32);
    if (small === null) return;
    const path = join(small.folder, 'inlet.db');
    fill(path);
    const { code, err } = await inlet(['backup', join(small.folder, 'copy.db')], { DATABASE_URL: `sqlite:${path}` });
    const left = readdirSync(small.folder);
    small.unmount();
    expect([code, left]).toEqual([1, ['inlet.db']]);
    expect(err).toMatch(/too little room for a copy: 2\d MB are needed, 1\d MB are free/);
  });

  test('where nobody says how much room there is a copy is made', async () => {
    const unbounded = SmallFileSystem.mount(0, 'ramfs');
    if (unbounded === null) return;
    const [path, copy] = [join(unbounded.folder, 'inlet.db'), join(unbounded.folder, 'copy.db')];
    fill(path);
    const told = await inlet(['backup', copy], { DATABASE_URL: `sqlite:${path}` });
    unbounded.unmount();
    expect(told).toEqual({ code: 0, out: `${copy}: a copy of ${path}\n`, err: '' });
  });

  test('a restore that has no room to keep what was there leaves nothing, and what it is to restore', async () => {
    const small = SmallFileSystem.mount(32);
    if (small === null) return;
    const [path, copy] = [join(small.folder, 'inlet.db'), join(folder, 'copy.db')];
    const [env, leftover] = [{ DATABASE_URL: `sqlite:${path}` }, `${path}.restoring`];
    await (await startServer({ database: { url: env.DATABASE_URL, drop: async () => {} } })).stop();
    await inlet(['backup', copy], env);
    fill(path);
    const told = [await inlet(['restore', copy], env), existsSync(leftover)];
    copyFileSync(copy, leftover);
    told.push(await inlet(['restore', leftover], env), existsSync(leftover));
    small.unmount();
    const refused = { code: 1, err: expect.stringContaining('too little room') };
    expect(told).toMatchObject([refused, false, refused, true]);
  });

  test('BACKUP_DIR gets a whole copy each day and keeps the newest', async () => {
    const backups = join(folder, 'backups');
    mkdirSync(backups);
    for (const name of ['inlet-2020-01-01.db', 'inlet-2020-01-02.db', 'mine.db'])
      writeFileSync(join(backups, name), '');
    const url = `sqlite:${join(folder, 'inlet.db')}`;
    const env = { BACKUP_DIR: backups, BACKUP_KEEP: '2' };
    const server = await startServer({ database: { url, drop: async () => {} }, env });
    const made = (): unknown => server.process.lines.find(({ msg }) => msg === 'backup made')?.['file'];
    await expect.poll(made).toMatch(/inlet-20[2-9]\d-\d\d-\d\d\.db$/);
    await server.stop();
    const today = made() as string;
    expect(readdirSync(backups).sort()).toEqual(['inlet-2020-01-02.db', basename(today), 'mine.db']);
    expect((await inlet(['check', today], {})).code).toBe(0);
    const wrong = startServer({ database: { url: 'sqlite::memory:', drop: async () => {} }, env });
    await expect(wrong).rejects.toThrow(/BACKUP_DIR: only for a SQLite file/);
  });

  test('a stop amid a daily copy leaves none that is empty, and the next start makes it', async () => {
    const backups = join(folder, 'backups');
    const path = join(folder, 'inlet.db');
    // So that it takes a moment.
    const large = new Sqlite(path);
    large.exec('create table ballast (bytes blob)');
    for (let at = 0; at < 100; at += 1) large.exec('insert into ballast values (randomblob(1048576))');
    large.close();
    const options = { database: { url: `sqlite:${path}`, drop: async () => {} }, env: { BACKUP_DIR: backups } };
    const server = await startServer(options);
    const isUnderWay = (): boolean =>
      existsSync(backups) && readdirSync(backups).some((name) => name.endsWith('.part'));
    await expect.poll(isUnderWay, { interval: 1 }).toBe(true);
    await server.stop();
    const copies = (): string[] => readdirSync(backups).filter((name) => name.endsWith('.db'));
    expect(copies()).toEqual([]);
    // As one that was stopped on another day.
    writeFileSync(join(backups, 'inlet-2020-01-01.db.making.part'), 'half');
    const again = await startServer(options);
    await expect.poll(copies).toHaveLength(1);
    await again.stop();
    expect(readdirSync(backups)).toEqual(copies());
    expect((await inlet(['check', join(backups, copies()[0]!)], {})).code).toBe(0);
  });

  test('a copy for which the machine has no file left is told, and ends nobody', async () => {
    const script = `
      import { closeSync, openSync } from 'node:fs';
      import { DailyBackups } from './src/database/daily-backups.ts';
      const files = [];
      try { for (;;) files.push(openSync('/dev/null')); } catch {}
      // To look into the folder.
      closeSync(files.pop());
      const told = [];
      const tell = (_, failure) => told.push(failure);
      new DailyBackups({ path: 'none.db', folder: ${JSON.stringify(folder)}, keep: 1, now: Date.now, tell });
      setTimeout(() => { for (const file of files) closeSync(file); console.log(told.join()); }, 100);`;
    const node = `ulimit -n 64; exec ${process.execPath} --input-type=module --eval "$0"`;
    const { status, stdout } = spawnSync('sh', ['-c', node, script], { encoding: 'utf8' });
    expect(stdout).toMatch(/^spawn .* EMFILE\n$/);
    expect(status).toBe(0);
  });

  test('a BACKUP_DIR that cannot be made is told, and holds up nobody', async () => {
    const url = `sqlite:${join(folder, 'inlet.db')}`;
    const server = await startServer({ database: { url, drop: async () => {} }, env: { BACKUP_DIR: '/proc/none' } });
    await expect
      .poll(() => server.process.lines.find(({ msg }) => msg === 'backup failed')?.['failure'])
      .toContain('/proc/none');
    await server.stop();
  });

  test('say what to do on PostgreSQL, and how they are used', async () => {
    const postgres = { DATABASE_URL: 'postgres://nobody@localhost/none' };
    for (const command of ['backup', 'restore'])
      expect((await inlet([command, 'file'], postgres)).err).toContain('use pg_dump and pg_restore');
    expect(await inlet([], {})).toMatchObject({ code: 2, err: expect.stringMatching(/^Usage.*inlet backup FILE/s) });
    expect(await inlet(['help'], {})).toMatchObject({ code: 0, out: expect.stringContaining('inlet backup FILE') });
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(await inlet(['--version'], {})).toEqual({ code: 0, out: `inlet ${version}\n`, err: '' });
    // Of one command all that it takes, and nothing of others; a server does not start.
    const told = await inlet(['export', '--help'], {});
    expect(told).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Usage: inlet export FILE.*--layout/s),
      err: '',
    });
    expect(told.out).not.toContain('backup');
    expect(await inlet(['start', '--help'], {})).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Usage: inlet start\n/),
    });
    for (const none of ['bakup', 'toString', '__proto__']) {
      const err = expect.stringMatching(new RegExp(`no "inlet ${none}".*inlet backup FILE`, 's'));
      expect(await inlet([none], {})).toMatchObject({ code: 2, err });
      const { status, stderr } = spawnSync(process.execPath, ['src/launch.mjs', none], { encoding: 'utf8' });
      expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(`unknown task "${none}"`) });
    }
  });
});
