import type { Database } from '../ports/database.ts';
import { type Token, TokenSchema } from '../entities/token.ts';

/** The limits of a token: up to 3,000 ids and identifiers, which lists of tokens leave out. */
export type TokenLimits = Pick<Token, 'productIds' | 'deviceIds' | 'fields'>;

const ID_BYTES = 60;

/** Approximate bytes of limits in memory. */
export function bytesOfLimits(limits: Iterable<TokenLimits>): number {
  let ids = 0;
  for (const { productIds, deviceIds, fields } of limits)
    ids += (productIds?.length ?? 0) + (deviceIds?.length ?? 0) + (fields?.length ?? 0);
  return ids * ID_BYTES;
}

/** Limits by the ids of the tokens; tokens that are gone are absent. */
export async function readTokenLimits(database: Database, ids: readonly string[]): Promise<Map<string, TokenLimits>> {
  const options = { fields: ['id', 'productIds', 'deviceIds', 'fields'] } as const;
  const rows = await database.read().find(TokenSchema, { id: { $in: [...ids] } }, options);
  return new Map(rows.map(({ id, productIds, deviceIds, fields }) => [id, { productIds, deviceIds, fields }]));
}
