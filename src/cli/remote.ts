import { readFileSync } from 'node:fs';
import { withoutEndSlashes } from '../config.ts';
import { mustExist } from './file-argument.ts';

/** Maximum tries of a failed request, and the growing pause between them. */
const TRIES = 8;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
const LOCAL = 'http://localhost:8080';

/** A final refusal by the server: another try would not help. `code`: of the first error of GraphQL. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly code?: string,
  ) {
    super(message);
  }
}

interface Answer<T> {
  data: T;
  errors?: { message: string; extensions?: { code?: string } }[];
}

/** Options of every command over HTTP. */
export const REMOTE_OPTIONS = { url: { type: 'string' }, 'token-file': { type: 'string' } } as const;

/** A running server. */
export class Remote {
  readonly #url: string;
  readonly #token: string;

  /** Reads `--url` or INLET_URL, and `--token`, `--token-file` or INLET_TOKEN. Throws with what is missing. */
  constructor(
    options: { url?: string | undefined; token?: string | undefined; 'token-file'?: string | undefined },
    env: NodeJS.ProcessEnv,
  ) {
    this.#url = withoutEndSlashes(options.url ?? env['INLET_URL'] ?? LOCAL);
    if (!/^https?:\/\//i.test(this.#url) || !URL.canParse(this.#url))
      throw new Error(`"${this.#url}" is no URL of a server such as ${LOCAL}`);
    const file = options['token-file'];
    if (file !== undefined) mustExist(file);
    const given = options.token ?? env['INLET_TOKEN'] ?? '';
    this.#token = (file === undefined ? given : readFileSync(file, 'utf8')).trim();
    if (this.#token === '') throw new Error('set INLET_TOKEN, or name a file that holds the token: --token-file FILE');
    // Later errors about it would print it.
    if (!/^[\x21-\x7e]+$/.test(this.#token)) throw new Error('the token has a blank, a line break or the like in it');
  }

  /** Sends a query and returns its data. Throws Refused with the server's errors. */
  async graphql<T>(query: string, variables: Record<string, unknown>): Promise<T> {
    return this.retried(async () => {
      const response = await this.send('/graphql', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
        body: JSON.stringify({ query, variables }),
      });
      const { data, errors } = (await response.json()) as Answer<T>;
      if (errors !== undefined)
        throw new Refused(errors.map(({ message }) => message).join(' '), errors[0]?.extensions?.code);
      return data;
    });
  }

  /** The answer if it is 200. Throws Refused for the caller's mistakes; other errors may be tried again. */
  async send(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...(init.headers as Record<string, string> | undefined), Authorization: `Token ${this.#token}` };
    const response = await fetch(`${this.#url}${path}`, { ...init, headers });
    if (response.status === 200) return response;
    const said = await response.text();
    const message = `${path.split('?', 1)[0]} answered ${response.status}: ${detailOf(said)}`;
    if (response.status >= 400 && response.status < 500 && response.status !== 429) throw new Refused(message);
    throw new Error(message);
  }

  /** Repeats `work`, with longer pauses, while the server is away or overloaded; prints that once. */
  async retried<T>(work: () => Promise<T>): Promise<T> {
    for (let tried = 1; ; tried += 1) {
      try {
        return await work();
      } catch (error) {
        if (error instanceof Refused) throw error;
        if (tried === TRIES) throw new Error(`${reasonOf(error)} (tried ${TRIES} times)`, { cause: error });
        if (tried === 1) console.error(`${this.#url}: ${reasonOf(error)}; trying again`);
        const pause = Math.min(FIRST_PAUSE_MS * 2 ** tried, LONGEST_PAUSE_MS);
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }
}

/** The sentence of a problem, or of GraphQL errors. */
function detailOf(text: string): string {
  try {
    const { detail, errors } = JSON.parse(text) as { detail?: unknown; errors?: { message: string }[] };
    if (typeof detail === 'string') return detail;
    if (errors !== undefined) return errors.map(({ message }) => message).join(' ');
  } catch {
    // The answer of a proxy.
  }
  return text.slice(0, 200);
}

/** Message of an error with its cause; that of `fetch` is only "fetch failed". */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== '' ? `${message}: ${cause.message}` : message;
}
