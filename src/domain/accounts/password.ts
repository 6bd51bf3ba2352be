import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { AppError, badInput } from '../../errors.ts';
import { countsOf } from '../../scheduling/lane-counts.ts';
import { LANES } from '../../scheduling/lanes.ts';
import { PasswordQueue } from '../../scheduling/password-queue.ts';
import { must } from '../../must.ts';

const MIN_LENGTH = 8;
const MAX_LENGTH = 1024;
/** OWASP's choice with the least memory (16 MiB): several may run beside the ingest path. */
const COST = { N: 2 ** 14, r: 8, p: 5 };
const KEY_BYTES = 32;
const LIMITS = LANES.passwords;

/**
 * Hashes and checks passwords with scrypt, one at a time and with pauses in between: a flood of sign-ins waits in a
 * small queue (OVERLOADED beyond it), round robin by caller, and gets a third of one processor at most. Setting a
 * password, which needs a right, has priority; after each of those one sign-in runs.
 */
export class Passwords {
  /** True while hashing or pausing. */
  #isBusy = false;
  /** Time worked since the last pause. */
  #workedMs = 0;
  readonly #setting = new PasswordQueue(LIMITS.maxWaiting, countsOf(LIMITS.name));
  readonly #checking = new PasswordQueue(LIMITS.maxWaiting, countsOf(LIMITS.name));
  readonly #decoy = hashText(randomBytes(16), randomBytes(KEY_BYTES));

  /**
   * Text for `User.passwordHash`: `scrypt$N$r$p$salt$key`. BAD_USER_INPUT naming `path` when too short or too long.
   * `caller`: the queue to wait in.
   */
  async hash(password: string, path: string, caller: string): Promise<string> {
    if (password.length < MIN_LENGTH) throw badInput(`${path}: a password has at least ${MIN_LENGTH} characters.`);
    if (password.length > MAX_LENGTH) throw badInput(`${path}: a password has at most ${MAX_LENGTH} characters.`);
    const salt = randomBytes(16);
    return hashText(salt, await this.#derive(password, salt, COST, this.#setting, caller));
  }

  /** OVERLOADED when the caller's queue is full: check it before keeping any state for a sign-in. */
  requireRoom(caller: string): void {
    if (this.#checking.hasRoom(caller)) return;
    countsOf(LIMITS.name).refused += 1;
    throw overloaded();
  }

  /** Compares the password with a hash; without one it works as long, so that the time reveals nothing. */
  async matches(password: string, hash: string | null, caller: string): Promise<boolean> {
    if (password.length > MAX_LENGTH) return false;
    const [, N, r, p, salt, key] = (hash ?? this.#decoy).split('$');
    const expected = Buffer.from(must(key), 'base64url');
    const cost = { N: Number(N), r: Number(r), p: Number(p) };
    const derived = await this.#derive(password, Buffer.from(must(salt), 'base64url'), cost, this.#checking, caller);
    return timingSafeEqual(derived, expected) && hash !== null;
  }

  async #derive(
    password: string,
    salt: Buffer,
    cost: typeof COST,
    line: PasswordQueue,
    caller: string,
  ): Promise<Buffer> {
    if (this.#isBusy && !(await line.wait(caller))) throw overloaded();
    this.#isBusy = true;
    const started = performance.now();
    try {
      return await new Promise((resolve, reject) => {
        const options = { ...cost, maxmem: 256 * cost.N * cost.r };
        scrypt(password.normalize('NFC'), salt, KEY_BYTES, options, (error, key) =>
          error ? reject(error) : resolve(key),
        );
      });
    } finally {
      this.#workedMs += performance.now() - started;
      if (line === this.#setting && !this.#checking.isEmpty) this.#checking.next();
      else this.#rest();
    }
  }

  #rest(): void {
    setTimeout(() => {
      const line = this.#setting.isEmpty ? this.#checking : this.#setting;
      this.#isBusy = !line.isEmpty;
      line.next();
    }, this.#workedMs * LIMITS.restFactor);
    this.#workedMs = 0;
  }
}

function overloaded(): AppError {
  return new AppError('OVERLOADED', 'Too many sign-ins at once; try again in a few seconds.');
}

function hashText(salt: Buffer, key: Buffer): string {
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64url'), key.toString('base64url')].join('$');
}
