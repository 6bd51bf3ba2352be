import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/sql';
import { badInput, notFound } from '../../errors.ts';
import { deviceIdentity } from '../text/device-identity.ts';
import { type Device, DeviceSchema } from '../entities/device.ts';
import { FieldSchema } from '../entities/field.ts';
import { ProductSchema } from '../entities/product.ts';
import { passNotes } from '../notes/write-note.ts';
import { readRows, storedKeyOf } from '../moves/moved-rows.ts';

/**
 * Removes a device and lists, in the same transaction, its values to be handed over to `device` by the store, so that
 * none is lost. BAD_USER_INPUT unless it is another device of the same product with that serial number, NOT_FOUND when
 * one of them is gone by now. `now`: in ms UTC.
 */
export async function absorbDevice(
  em: EntityManager,
  device: Device,
  absorbed: Device,
  serialNumber: string,
  now: number,
): Promise<void> {
  const { product } = device;
  await hold(em, [device, absorbed]);
  if (absorbed.key === device.key) throw badInput('absorb: a device cannot absorb itself.');
  if (absorbed.product.key !== product.key)
    throw badInput('absorb: the two devices are of different products, whose fields differ.');
  if (deviceIdentity(absorbed.serialNumber) !== deviceIdentity(serialNumber))
    throw badInput(`absorb: that device has the serial number "${absorbed.serialNumber}", not the one to take over.`);
  const fields = await em.find(FieldSchema, { product: product.key }, { fields: ['key'] });
  const [from, into] = [await readRows(em, absorbed.key), await readRows(em, device.key)];
  const write = (fieldKey: number | null, intoFieldKey: number | null): Promise<unknown> =>
    em.execute('insert into purge (device_key, field_key, into_device_key, into_field_key) values (?, ?, ?, ?)', [
      absorbed.key,
      fieldKey,
      device.key,
      intoFieldKey,
    ]);
  for (const { key } of fields) await write(storedKeyOf(from, key), storedKeyOf(into, key));
  await write(null, null);
  // Another node may still commit values that it accepted for the absorbed device.
  await em.execute('update absorbed_device set into_device_key = ? where into_device_key = ?', [
    device.key,
    absorbed.key,
  ]);
  await em.execute('insert into absorbed_device (device_key, into_device_key, absorbed_at) values (?, ?, ?)', [
    absorbed.key,
    device.key,
    now,
  ]);
  await passNotes(em, absorbed, device);
  await em.nativeDelete(DeviceSchema, { key: absorbed.key });
  await em.execute('delete from rule_state where device_key = ?', [absorbed.key], 'run');
}

/**
 * Locks the devices and the fields of the product until the transaction ends; of two requests that absorb the same
 * device, one gets NOT_FOUND. Locks the product first, as elsewhere, against deadlocks.
 */
async function hold(em: EntityManager, devices: readonly [Device, Device]): Promise<void> {
  const lockMode = LockMode.PESSIMISTIC_WRITE;
  await em.findOne(ProductSchema, { key: devices[0].product.key }, { lockMode, refresh: true });
  const options = { lockMode, orderBy: { key: 'asc' }, refresh: true } as const;
  const held = await em.find(DeviceSchema, { key: { $in: devices.map(({ key }) => key) } }, options);
  const gone = devices.find(({ key }) => !held.some((device) => device.key === key));
  if (gone !== undefined) throw notFound('device', gone.id);
}
