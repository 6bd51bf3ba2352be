import type { Database } from '../ports/database.ts';
import { type Token, TokenSchema } from '../entities/token.ts';

/** The limits of a token: up to 2,000 ids, which lists of tokens leave out. */
export type TokenLimits = Pick<Token, 'productIds' | 'deviceIds'>;

const ID_BYTES = 60;

/** Approximate bytes of limits in memory. */
export function bytesOfLimits(limits: Iterable<TokenLimits>): number {
  let ids = 0;
  for (const { productIds, deviceIds } of limits) ids += (productIds?.length ?? 0) + (deviceIds?.length ?? 0);
  return ids * ID_BYTES;
}

/** Limits by the ids of the tokens; tokens that are gone are absent. */
export async function readTokenLimits(database: Database, ids: readonly string[]): Promise<Map<string, TokenLimits>> {
  const options = { fields: ['id', 'productIds', 'deviceIds'] } as const;
  const rows = await database.read().find(TokenSchema, { id: { $in: [...ids] } }, options);
  return new Map(rows.map(({ id, productIds, deviceIds }) => [id, { productIds, deviceIds }]));
}
