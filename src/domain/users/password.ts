import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { AppError, badInput } from '../../errors.ts';

const MIN_LENGTH = 8;
const MAX_LENGTH = 1024;
/** OWASP's choice with the least memory (16 MiB): several may run beside the ingest path. */
const COST = { N: 2 ** 14, r: 8, p: 5 };
const KEY_BYTES = 32;
const MAX_WAITING = 20;
/** So many times as long as a hash took passes before the next one begins. */
const REST = 2;

/**
 * Hashes and checks passwords with scrypt, one at a time and with rests in between: a flood of sign-ins waits in a
 * small queue (OVERLOADED beyond it) and gets a third of one processor at most. Who is let in to set a password goes
 * first.
 */
export class Passwords {
  #running = false;
  #resting: NodeJS.Timeout | null = null;
  readonly #waiting: (() => void)[] = [];
  readonly #decoy = hashText(randomBytes(16), randomBytes(KEY_BYTES));

  /** Text for `User.passwordHash`: `scrypt$N$r$p$salt$key`. BAD_USER_INPUT naming `path` when too short or too long. */
  async hash(password: string, path: string): Promise<string> {
    if (password.length < MIN_LENGTH) throw badInput(`${path}: a password has at least ${MIN_LENGTH} characters.`);
    if (password.length > MAX_LENGTH) throw badInput(`${path}: a password has at most ${MAX_LENGTH} characters.`);
    const salt = randomBytes(16);
    return hashText(salt, await this.#derive(password, salt, COST, 'first'));
  }

  /** OVERLOADED when no more may wait: ask before anything is remembered of a sign-in. */
  requireRoom(): void {
    if (this.#waiting.length >= MAX_WAITING)
      throw new AppError('OVERLOADED', 'Too many sign-ins at once; try again in a few seconds.');
  }

  /** The same work is done when there is no hash to compare with, so that the time taken tells nothing. */
  async matches(password: string, hash: string | null): Promise<boolean> {
    if (password.length > MAX_LENGTH) return false;
    const [, N, r, p, salt, key] = (hash ?? this.#decoy).split('$');
    const expected = Buffer.from(key!, 'base64url');
    const cost = { N: Number(N), r: Number(r), p: Number(p) };
    this.requireRoom();
    const derived = await this.#derive(password, Buffer.from(salt!, 'base64url'), cost, 'last');
    return timingSafeEqual(derived, expected) && hash !== null;
  }

  async #derive(password: string, salt: Buffer, cost: typeof COST, place: 'first' | 'last'): Promise<Buffer> {
    if (this.#running || (this.#resting !== null && place === 'last'))
      await new Promise<void>((resolve) => {
        if (place === 'first') this.#waiting.unshift(resolve);
        else this.#waiting.push(resolve);
      });
    this.#running = true;
    const started = performance.now();
    try {
      return await new Promise((resolve, reject) => {
        const options = { ...cost, maxmem: 256 * cost.N * cost.r };
        scrypt(password.normalize('NFC'), salt, KEY_BYTES, options, (error, key) =>
          error ? reject(error) : resolve(key),
        );
      });
    } finally {
      this.#running = false;
      clearTimeout(this.#resting ?? undefined);
      this.#resting = setTimeout(() => this.#next(), (performance.now() - started) * REST);
    }
  }

  #next(): void {
    this.#resting = null;
    // The one who waits longest.
    if (!this.#running) this.#waiting.shift()?.();
  }
}

function hashText(salt: Buffer, key: Buffer): string {
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64url'), key.toString('base64url')].join('$');
}
