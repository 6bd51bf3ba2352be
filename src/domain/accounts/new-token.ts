import { badInput } from '../../errors.ts';
import { FIELD_IDENTIFIER } from '../entities/field.ts';
import type { TokenKind, TokenScope } from '../entities/token.ts';

/** Maximum products, and devices, that a token is limited to. */
export const MAX_LIMITS = 1000;

/** The input for a new token; times in milliseconds. `kind` PERSONAL: the five in the middle are left out. */
export interface NewToken {
  name: string;
  kind: TokenKind;
  workspaceId?: string | null;
  scopes?: TokenScope[] | null;
  productIds?: string[] | null;
  deviceIds?: string[] | null;
  fields?: string[] | null;
  expiresAt?: number | null;
}

/** Left out: unchanged. null: no limit, no end. */
export type TokenChange = Partial<Pick<NewToken, 'productIds' | 'deviceIds' | 'fields' | 'expiresAt'>> & {
  name?: string | null;
};

/** BAD_USER_INPUT when the input of a PERSONAL token has properties that only INDIVIDUAL ones have. */
export function checkPersonal(input: Partial<Omit<NewToken, 'name' | 'kind'>>): void {
  for (const key of ['workspaceId', 'scopes', 'productIds', 'deviceIds', 'fields'] as const)
    if (input[key] != null)
      throw badInput(`input.${key}: leave it out; a PERSONAL token may do what its user may, everywhere.`);
}

/** The scopes (at least one, each once) and limits of an INDIVIDUAL token, null: no limit; else BAD_USER_INPUT. */
export function checkIndividual(input: NewToken): {
  scopes: TokenScope[];
  productIds: string[] | null;
  deviceIds: string[] | null;
  fields: string[] | null;
} {
  const scopes = input.scopes ?? [];
  if (scopes.length === 0) throw badInput('input.scopes: name at least one of READ, RECORD, CONFIGURE, ADMIN.');
  if (new Set(scopes).size < scopes.length) throw badInput('input.scopes: each scope once.');
  return {
    scopes,
    productIds: checkLimit(input.productIds, 'input.productIds'),
    deviceIds: checkLimit(input.deviceIds, 'input.deviceIds'),
    fields: checkFieldLimit(input.fields, scopes),
  };
}

/**
 * The ids without duplicates, null: no limit; else BAD_USER_INPUT naming `path`. An empty list is rejected, as it could
 * mean "no limit" or "nothing".
 */
export function checkLimit(ids: string[] | null | undefined, path: string): string[] | null {
  return distinct(
    ids?.map((id) => id.toLowerCase()),
    path,
  );
}

/**
 * The identifiers without duplicates, null: no limit; else BAD_USER_INPUT naming `path`. A field need not exist yet. Whoever may
 * CONFIGURE or ADMIN sees decoders, calls and other tokens, so that a limit to fields would be none.
 */
export function checkFieldLimit(
  identifiers: string[] | null | undefined,
  scopes: readonly TokenScope[],
  path = 'input.fields',
): string[] | null {
  for (const [at, identifier] of (identifiers ?? []).entries())
    if (!FIELD_IDENTIFIER.test(identifier))
      throw badInput(
        `${path}[${at}]: ${JSON.stringify(identifier.slice(0, 100))} is no field identifier (1 to 64 of A-Z a-z 0-9 _ -).`,
      );
  const fields = distinct(identifiers, path);
  const wide = scopes.filter((scope) => scope === 'CONFIGURE' || scope === 'ADMIN');
  if (fields !== null && wide.length > 0)
    throw badInput(
      `${path}: a token with scope ${wide.join(' or ')} reaches every field, through decoders, calls or other tokens; ` +
        'a token limited to fields has READ or RECORD alone.',
    );
  return fields;
}

function distinct(items: readonly string[] | null | undefined, path: string): string[] | null {
  if (items == null) return null;
  if (items.length === 0) throw badInput(`${path}: leave it out for no limit, or name at least one.`);
  const unique = [...new Set(items)];
  if (unique.length > MAX_LIMITS) throw badInput(`${path}: at most ${MAX_LIMITS}.`);
  return unique;
}
