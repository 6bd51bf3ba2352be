import { badInput } from '../../errors.ts';
import type { TokenKind, TokenScope } from '../entities/token.ts';

const MAX_LIMITS = 1000;

/** The input for a new token; times in milliseconds. `kind` PERSONAL: the four in the middle are left out. */
export interface NewToken {
  name: string;
  kind: TokenKind;
  workspaceId?: string | null;
  scopes?: TokenScope[] | null;
  productIds?: string[] | null;
  deviceIds?: string[] | null;
  expiresAt?: number | null;
}

/** Left out: unchanged. null: no limit, no end. */
export type TokenChange = Partial<Pick<NewToken, 'productIds' | 'deviceIds' | 'expiresAt'>> & {
  name?: string | null;
};

/** BAD_USER_INPUT when the input of a PERSONAL token has properties that only INDIVIDUAL ones have. */
export function checkPersonal(input: Partial<Omit<NewToken, 'name' | 'kind'>>): void {
  for (const key of ['workspaceId', 'scopes', 'productIds', 'deviceIds'] as const)
    if (input[key] != null)
      throw badInput(`input.${key}: leave it out; a PERSONAL token may do what its user may, everywhere.`);
}

/** The scopes (at least one, each once) and limits of an INDIVIDUAL token, null: no limit; else BAD_USER_INPUT. */
export function checkIndividual(input: NewToken): {
  scopes: TokenScope[];
  productIds: string[] | null;
  deviceIds: string[] | null;
} {
  const scopes = input.scopes ?? [];
  if (scopes.length === 0) throw badInput('input.scopes: name at least one of READ, RECORD, CONFIGURE, ADMIN.');
  if (new Set(scopes).size < scopes.length) throw badInput('input.scopes: each scope once.');
  return {
    scopes,
    productIds: checkLimit(input.productIds, 'input.productIds'),
    deviceIds: checkLimit(input.deviceIds, 'input.deviceIds'),
  };
}

/**
 * The ids without duplicates, null: no limit; else BAD_USER_INPUT naming `path`. An empty list is rejected, as it could
 * mean "no limit" or "nothing".
 */
export function checkLimit(ids: string[] | null | undefined, path: string): string[] | null {
  if (ids == null) return null;
  if (ids.length === 0) throw badInput(`${path}: leave it out for no limit, or name at least one.`);
  const unique = [...new Set(ids.map((id) => id.toLowerCase()))];
  if (unique.length > MAX_LIMITS) throw badInput(`${path}: at most ${MAX_LIMITS}.`);
  return unique;
}
