import type { EntityManager } from '@mikro-orm/sql';

/** A product may have 100,000: on SQLite what one statement writes down has the event loop. */
const DEVICES_AT_ONCE = 500;

/** A field that was removed, of a product. */
export interface RemovedField {
  fieldKey: number;
  productKey: number;
}

/** Writes down that the field is removed, and begins to forget its values (see `forgetFieldOfSome`). */
export async function forgetRemovedField(em: EntityManager, field: RemovedField, now: number): Promise<number | null> {
  // Another node may accept a value for it already and commit that after the purge.
  await em.execute(
    'insert into removed_field (field_key, product_key, removed_at) values (?, ?, ?)',
    [field.fieldKey, field.productKey, now],
    'run',
  );
  return forgetFieldOfSome(em, field, 0);
}

/**
 * Writes down that the store is to forget the field's values of the product's next devices behind the key `after`: call
 * `settlePurges` after the commit. Returns the key of the last of them; null: there are no more behind them.
 */
export async function forgetFieldOfSome(
  em: EntityManager,
  { fieldKey, productKey }: RemovedField,
  after: number,
): Promise<number | null> {
  const rows = await em.execute<{ device_key: number }[]>(
    'insert into purge (device_key, field_key) select key, coalesce((select stored_key from moved_field ' +
      'where device_key = device.key and field_key = ?), ?) from device where product_key = ? and key > ? ' +
      `order by key limit ${DEVICES_AT_ONCE} returning device_key`,
    [fieldKey, fieldKey, productKey, after],
  );
  return rows.length < DEVICES_AT_ONCE ? null : Math.max(...rows.map((row) => row.device_key));
}
