import type { EntityManager } from '@mikro-orm/sql';
import { placeholders } from '../sql/long-columns.ts';

/** A device and its product as events tell of them. */
interface ToldDevice {
  key: number;
  workspaceId: string;
  device: { id: string; serialNumber: string; name: string; tags: readonly string[] };
  product: ToldProduct;
}

/** A product as events tell of it. */
interface ToldProduct {
  id: string;
  key: string | null;
  name: string;
}

/** The devices that there are, by their small keys. */
export async function readToldDevices(em: EntityManager, keys: readonly number[]): Promise<Map<number, ToldDevice>> {
  if (keys.length === 0) return new Map();
  const rows = await em.execute<
    (Omit<ToldDevice['device'], 'tags'> &
      Pick<ToldDevice, 'key' | 'workspaceId'> & {
        tags: string;
        productId: string;
        productKey: string | null;
        productName: string;
      })[]
  >(
    `select d."key", d.workspace_id as "workspaceId", d.id, d.serial_number as "serialNumber", d.name, d.tags,
       p.id as "productId", p.author_key as "productKey", p.name as "productName"
     from device d join product p on p."key" = d.product_key where d."key" in (${placeholders(keys)})`,
    [...keys],
  );
  return new Map(
    rows.map(({ key, workspaceId, tags, productId, productKey, productName, ...device }) => [
      key,
      {
        key,
        workspaceId,
        device: { ...device, tags: tags.split('\n').filter((tag) => tag !== '') },
        product: { id: productId, key: productKey, name: productName },
      },
    ]),
  );
}

/** The products that there are, by their ids, with their workspaces. */
export async function readToldProducts(
  em: EntityManager,
  ids: readonly string[],
): Promise<Map<string, { workspaceId: string; product: ToldProduct }>> {
  if (ids.length === 0) return new Map();
  const rows = await em.execute<(ToldProduct & { workspaceId: string })[]>(
    `select id, author_key as "key", name, workspace_id as "workspaceId" from product where id in (${placeholders(ids)})`,
    [...ids],
  );
  return new Map(rows.map(({ workspaceId, ...product }) => [product.id, { workspaceId, product }]));
}
