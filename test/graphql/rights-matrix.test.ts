import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PATHS, type PathRight } from '../../src/domain/access/path-rights.ts';
import { OPERATIONS } from '../../src/domain/access/rights.ts';
import { type GqlAnswer, startServer, type TestServer } from '../support/server.ts';
import { firstPush } from '../support/subscribe.ts';
import { CALLS, REST_CALLS } from './rights-calls.ts';
import { Holders, HOLDERS } from './rights-holders.ts';
import { OPERATION_MATRIX, PATH_MATRIX } from './rights-matrix.ts';

let server: TestServer;
let holders: Holders;

beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
  holders = await Holders.create(server);
});
afterAll(() => server?.stop());

/** Row → its cells, one for each column. */
function rowsOf(matrix: string): Map<string, string[]> {
  const lines = matrix.split('\n').filter((line) => line !== '' && !line.startsWith(' '));
  return new Map(
    lines.map((line) => {
      const [, row, cells] = /^(.*?) {2,}(.*)$/.exec(line)!;
      return [row!, cells!.split(/ +/)];
    }),
  );
}

const operationRows = rowsOf(OPERATION_MATRIX);
const pathRows = rowsOf(PATH_MATRIX);

/** What is refused: else it is allowed, also when there is one of that name already. */
const REFUSED: Record<string, string> = { FORBIDDEN: 'F', UNAUTHENTICATED: 'U', NOT_FOUND: '-' };
/** What the WebSocket is closed with when its token is none. */
const CLOSED = [4401, 4403];
/** Nothing may come within it where nothing is refused. */
const QUIET_MS = 400;
/** Passwords are tried one at a time, each for long: of those who may, these are asked. */
const WITH_PASSWORD: Record<string, string[]> = {
  'Mutation.signIn(email)': ['expired', 'nobody'],
  'Mutation.changePassword(currentPassword)': ['VIEWER'],
};

function cellOf(answer: GqlAnswer | null): string {
  const error = answer?.errors?.find(({ path }) => (path ?? []).length < 2);
  if (error === undefined) return Object.values(answer?.data ?? {}).includes(null) ? '0' : '✓';
  if (CLOSED.includes((error as { code?: number }).code ?? 0)) return 'U';
  const code = error.extensions?.code ?? JSON.stringify(error);
  return code === 'CONFLICT' ? '✓' : (REFUSED[code] ?? `${code}: ${error.message}`);
}

/** What a holder is answered; `expected` says only how long to wait for what may not come. */
async function ask(row: string, holder: string, expected: string | undefined): Promise<string> {
  const cells = new Set<string>();
  const operation = row.replace(/\(.*/, '');
  for (const { query, variables } of CALLS.get(row)!) {
    const token = holders.tokens.get(holder)!;
    const text = query.replace('"replaced"', `"${randomBytes(8).toString('hex')}"`);
    const given = variables(holders.tenant);
    const answer = query.startsWith('subscription')
      ? await firstPush(server.url, token as string, text, given, expected === '✓' ? QUIET_MS : undefined)
      : await server.query(text, given, token);
    const cell = cellOf(answer);
    cells.add(cell);
    if (cell === '✓' && holders.takesAway(operation)) {
      await holders.restore(operation);
      // What is taken away once is taken away in every way.
      break;
    }
  }
  return [...cells].join('/');
}

describe('operations about what one owns, or is limited to', () => {
  test('the matrix has a row for every operation', () => {
    expect([...operationRows.keys()].toSorted()).toEqual([...CALLS.keys()].toSorted());
    const named = new Set([...operationRows.keys()].map((row) => row.replace(/\(.*/, '')));
    expect([...named].toSorted()).toEqual(Object.keys(OPERATIONS).toSorted());
  });

  test.each([...CALLS.keys()])('%s', async (row) => {
    const expected = operationRows.get(row) ?? [];
    const one = async (holder: string, at: number): Promise<string> =>
      expected[at] === '✓' && WITH_PASSWORD[row]?.includes(holder) === false ? '✓' : ask(row, holder, expected[at]);
    const cells: string[] = [];
    // One after the other where one takes away what the next is asked about.
    if (holders.takesAway(row.replace(/\(.*/, '')))
      for (const [at, holder] of HOLDERS.entries()) cells.push(await one(holder, at));
    else cells.push(...(await Promise.all(HOLDERS.map(one))));
    expect(legible(cells)).toEqual(legible(expected));
  });
});

/** A difference names the holder. */
function legible(cells: readonly string[]): string[] {
  return cells.map((cell, at) => `${[...HOLDERS, 'cookie'][at]}: ${cell}`);
}

describe('REST paths', () => {
  const calls = Object.entries<PathRight>(PATHS).flatMap(([path, { methods }]) =>
    methods.flatMap((method) =>
      ['', ...(path.includes(':device') ? [' (another)'] : [])].map((other) => ({
        row: `${method} ${path}${other}`,
        path,
        method,
        other,
      })),
    ),
  );

  test('the matrix has a row for every path and method, and for devices that no limit covers', () => {
    expect([...pathRows.keys()].toSorted()).toEqual(calls.map(({ row }) => row).toSorted());
  });

  test.each(calls)('$row', async ({ row, path, method, other }) => {
    const { place, query, headers, body } = REST_CALLS[path as keyof typeof PATHS];
    const { tenant } = holders;
    const about = other === '' ? tenant : { ...tenant, deviceId: tenant.otherDeviceId };
    const url = server.url + path.replace(/:\w+/, () => place!(about)) + (query?.(about) ?? '');
    const serialNumber = await holders.serialNumber();
    const one = async (token: string | null, cookie: string | null): Promise<string> => {
      const answer = await fetch(path === '/graphql' && method === 'GET' ? `${url}?query={__typename}` : url, {
        method,
        headers: {
          'Sec-Fetch-Site': 'same-origin',
          ...headers,
          ...(token === null ? {} : { Authorization: `Token ${token}` }),
          ...(cookie === null ? {} : { Cookie: `inlet_session=${cookie}` }),
        },
        body: method === 'POST' ? (body?.({ token: token ?? cookie, serialNumber }) ?? '') : null,
        redirect: 'manual',
      });
      const text = await answer.text();
      if (answer.status < 400) return '✓';
      return { 401: 'U', 403: 'F', 404: '-' }[answer.status] ?? `${answer.status} ${text}`;
    };
    const cells = await Promise.all(HOLDERS.map((holder) => one(holders.tokens.get(holder)!, null)));
    cells.push(await one(null, holders.cookie));
    expect(legible(cells)).toEqual(legible(pathRows.get(row) ?? []));
  });
});
