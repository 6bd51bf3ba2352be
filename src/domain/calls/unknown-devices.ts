import { LockMode } from '@mikro-orm/core';
import type { Database } from '../database.ts';
import { badInput, notFound } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import { findDevice } from '../access/find-device.ts';
import { requestOfCall, type DecoderRequest } from '../decoders/decoder-request.ts';
import type { DeviceService } from '../devices/device-service.ts';
import type { Authenticator } from '../tokens/authenticator.ts';
import { type Device, DeviceSchema } from '../entities/device.ts';
import { UnknownCallSchema } from '../entities/unknown-call.ts';
import { type UnknownDevice, UnknownDeviceSchema } from '../entities/unknown-device.ts';
import type { IngestCache, ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { visibleProduct } from '../ingest-cache/visible-product.ts';
import type { Network } from '../networks/network-event.ts';
import { networkIdentity } from '../networks/network-identity.ts';
import { uuidV7 } from '../uuid.ts';
import { lockWorkspace } from '../workspaces/lock-workspace.ts';
import { maskedHeaders } from './masked-headers.ts';
import { retryWhileOverloaded } from './retry-while-overloaded.ts';
import type { Recipient, WebhookReceiver } from './webhook-receiver.ts';

/** In a workspace; the one heard of longest ago makes room. */
const MAX_DEVICES = 1_000;
/** Of one identifier; the oldest make room. */
const MAX_CALLS = 100;
/** Longer bodies are counted, not kept: no network's message is that long. */
const MAX_BODY = 65_536;

interface UnknownDevicesDeps {
  authenticator: Authenticator;
  database: Database;
  ingestCache: IngestCache;
  devices: DeviceService;
  receiver: WebhookReceiver;
  now: () => number;
}

/** Identifiers that networks sent and no device has, with the calls that are kept for them (CONTRACT 6). */
export class UnknownDevices {
  readonly #deps: UnknownDevicesDeps;

  constructor(deps: UnknownDevicesDeps) {
    this.#deps = deps;
  }

  /** Keeps a call; resolves after the commit. */
  async keep(workspaceId: string, network: Network, identifier: string, request: DecoderRequest): Promise<void> {
    const now = this.#deps.now();
    const identity = networkIdentity(identifier);
    await this.#deps.database.write(async (em) => {
      const workspace = await lockWorkspace(em, workspaceId);
      // Held: it may just be adopted.
      const lock = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
      let row = await em.findOne(UnknownDeviceSchema, { workspace: workspaceId, identity }, lock);
      if (row === null) {
        if ((await em.count(UnknownDeviceSchema, { workspace: workspaceId })) >= MAX_DEVICES) {
          const [oldest] = await em.find(
            UnknownDeviceSchema,
            { workspace: workspaceId },
            { orderBy: { lastSeenAt: 'asc' }, limit: 1 },
          );
          if (oldest !== undefined) await em.nativeDelete(UnknownDeviceSchema, { id: oldest.id });
        }
        const first = { id: uuidV7(now), workspace, identity, firstSeenAt: now, seen: 0 };
        row = em.create(UnknownDeviceSchema, { ...first, identifier, network, lastSeenAt: now });
      }
      Object.assign(row, { identifier, network, lastSeenAt: now, seen: row.seen + 1 });
      await em.flush();
      if (request.body.length > MAX_BODY) return;
      em.create(UnknownCallSchema, {
        id: uuidV7(now),
        unknownDevice: row,
        receivedAt: now,
        path: request.path,
        query: JSON.stringify(request.GET),
        headers: maskedHeaders(request.headers),
        // What PostgreSQL cannot keep is in no message that was read.
        body: request.body.replaceAll('\0', ' ').toWellFormed(),
      });
      await em.flush();
      const newestFirst = { orderBy: { id: 'desc' }, offset: MAX_CALLS, limit: MAX_CALLS } as const;
      const surplus = await em.find(UnknownCallSchema, { unknownDevice: row.id }, { ...newestFirst, fields: ['id'] });
      if (surplus.length > 0) await em.nativeDelete(UnknownCallSchema, { id: { $in: surplus.map(({ id }) => id) } });
    });
  }

  /** Of one workspace, or of all that the token may READ; last seen first. What a device has by now is left out. */
  async list(access: Access, workspaceId: string | null | undefined): Promise<UnknownDevice[]> {
    if (workspaceId != null) access.requireWorkspace(workspaceId, 'READ');
    access.requireUnlimited();
    const workspace = { $in: workspaceId == null ? access.workspaceIdsWith('READ') : [workspaceId] };
    const em = this.#deps.database.read();
    const rows = await em.find(
      UnknownDeviceSchema,
      { workspace },
      { orderBy: { lastSeenAt: 'desc', id: 'desc' }, limit: MAX_DEVICES },
    );
    const serialFolded = { $in: rows.map(({ identity }) => identity) };
    const known = await em.find(DeviceSchema, { workspace, serialFolded }, { fields: ['workspace', 'serialFolded'] });
    const taken = new Set(known.map((device) => `${device.workspace.id} ${device.serialFolded}`));
    return rows.filter((row) => !taken.has(`${row.workspace.id} ${row.identity}`));
  }

  /**
   * Makes a device of it, or takes the one that the product has by now, and hands it what was kept, oldest first and
   * under its receipt time. Needs CONFIGURE, from the first call to the last; a plan that is full is PLAN_LIMIT. Done
   * again after a failure, it goes on.
   */
  async adopt(
    access: Access,
    id: string,
    productId: string,
    { name, plan }: { name?: string | null | undefined; plan?: string | null | undefined },
  ): Promise<Device> {
    const { database, ingestCache, devices } = this.#deps;
    const row = id.includes('\0') ? null : await database.read().findOne(UnknownDeviceSchema, { id: id.toLowerCase() });
    if (row === null || !access.seesWorkspace(row.workspace.id)) throw notFound('unknown device', id);
    access.requireWorkspace(row.workspace.id, 'CONFIGURE');
    const product = await visibleProduct(ingestCache, access, productId, 'CONFIGURE');
    if (product.workspaceId !== row.workspace.id)
      throw badInput('productId: the product is of another workspace than the identifier.');
    const { identifier } = row;
    if ((await this.#deviceOf(product, identifier)) === null)
      await devices.create(access, product.id, [{ name: name ?? identifier, serialNumber: identifier }], plan);
    await this.#replay(this.#deps.authenticator.follow(access), product, row);
    await database.write(async (em) => {
      await em.nativeDelete(UnknownDeviceSchema, { id: row.id });
    });
    const device = await this.#deviceOf(product, identifier);
    if (device === null) throw notFound('device', identifier);
    return findDevice(database.read(), access, device.id, 'CONFIGURE');
  }

  /** Forgets what was last heard of before the time, in ms UTC. */
  async forgetBefore(time: number): Promise<void> {
    await this.#deps.database.write(async (em) => {
      await em.nativeDelete(UnknownDeviceSchema, { lastSeenAt: { $lt: time } });
    });
  }

  async #replay(
    accessNow: () => Promise<Access>,
    product: ProductInfo,
    { id, identifier }: UnknownDevice,
  ): Promise<void> {
    const { database, ingestCache, receiver } = this.#deps;
    const calls = await database.read().find(UnknownCallSchema, { unknownDevice: id }, { orderBy: { id: 'asc' } });
    for (const { receivedAt, ...call } of calls) {
      const current = await ingestCache.product(product.id);
      const device = current === null ? null : await this.#deviceOf(current, identifier);
      if (current === null || device === null) return; // deleted meanwhile
      const request = requestOfCall({ ...call, method: 'POST' });
      const find = async (): Promise<Recipient> => {
        (await accessNow()).requireProduct(current, 'CONFIGURE');
        return { product: current, native: { device } };
      };
      await retryWhileOverloaded(() => receiver.receive(find, request, receivedAt));
    }
  }

  async #deviceOf(product: ProductInfo, identifier: string) {
    const devices = await this.#deps.ingestCache.devicesByNetworkId(product.workspaceId, identifier);
    return devices.find((device) => device.productId === product.id) ?? null;
  }
}
