/** A time as PostgreSQL compares it with a bigint column: rounding up keeps both `>=` and `<` right. */
export function toBigint(time: number): number {
  return Math.min(Math.max(Math.ceil(time), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}
