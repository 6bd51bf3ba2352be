import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServerProcess } from '../support/server-process.ts';
import { TestServer } from '../support/server.ts';
import { fuzz } from './fuzz.ts';

/** `npm run fuzz -- [inputs] [seed]`: a million inputs unless told otherwise; ends with 1 and what was found. */
const [inputs = 1_000_000, seed = Date.now() % 1_000_000] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'inlet-fuzz-'));
const env = {
  DATABASE_URL: `sqlite:${join(folder, 'inlet.db')}`,
  WRITE_RATE_PER_FIELD: '0',
  ANONYMOUS_PER_MINUTE: '0',
};
const server = new TestServer(await ServerProcess.start(env), async () =>
  rmSync(folder, { recursive: true, force: true }),
);
console.log(`seed ${seed}, ${inputs} inputs`);
try {
  const result = await fuzz(server, { seed, inputs, onProgress: (done) => console.log(`${done} of ${inputs}`) });
  console.log(JSON.stringify({ seed, inputs: result.inputs, byKind: result.byKind, findings: result.findings.length }));
  for (const finding of result.findings) console.log(finding);
  process.exitCode = result.findings.length === 0 ? 0 : 1;
} finally {
  await server.stop();
}
