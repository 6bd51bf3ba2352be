import type { Access } from '../domain/access/access.ts';
import type { Authenticator } from '../domain/accounts/authenticator.ts';
import { type AppError, unauthenticated } from '../errors.ts';

interface TokenWatchDeps {
  authenticator: Pick<Authenticator, 'present' | 'revision'>;
  now: () => number;
}

/** The rights of a connection's token: looked up anew when any token has changed, in order for all who ask. */
export class TokenWatch {
  readonly #deps: TokenWatchDeps;
  #access: Access;
  #revision = -1;
  /** Set while the token is looked up. */
  #looking: Promise<Access> | null = null;

  constructor(access: Access, deps: TokenWatchDeps) {
    this.#access = access;
    this.#deps = deps;
  }

  /** The rights that were looked up last. */
  get access(): Access {
    return this.#access;
  }

  /** The present rights, without waiting while nothing about any token has changed. Throws UNAUTHENTICATED. */
  present(): Access | Promise<Access> {
    const { authenticator, now } = this.#deps;
    const { expiresAt } = this.#access;
    if (this.#looking !== null) return this.#looking;
    if (this.#revision === authenticator.revision && (expiresAt === null || expiresAt > now())) return this.#access;
    const { revision } = authenticator;
    const present = authenticator.present(this.#access);
    if (!(present instanceof Promise)) return this.#use(present, revision);
    this.#looking = present
      .then((access) => this.#use(access, revision))
      .finally(() => {
        this.#looking = null;
      });
    return this.#looking;
  }

  #use(access: Access | null, revision: number): Access {
    if (access === null) throw tokenGone();
    this.#access = access;
    this.#revision = revision;
    return access;
  }
}

/** The error of a connection whose token has gone. */
export function tokenGone(): AppError {
  return unauthenticated('The token of this connection is unknown, expired or revoked.');
}
