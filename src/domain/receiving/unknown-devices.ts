import type { EntityManager } from '@mikro-orm/sql';
import type { Database } from '../ports/database.ts';
import { deleteInSlices } from '../sql/delete-in-slices.ts';
import { AppError, badInput, conflict, notFound } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import { findDevice } from '../access/find-device.ts';
import { requestOfCall, type DecoderRequest } from '../decoders/decoder-request.ts';
import type { DeviceService } from '../devices/device-service.ts';
import type { Authenticator } from '../accounts/authenticator.ts';
import type { Device } from '../entities/device.ts';
import { type UnknownCall, UnknownCallSchema } from '../entities/unknown-call.ts';
import { type UnknownDevice, UnknownDeviceSchema } from '../entities/unknown-device.ts';
import { columnOf } from '../ingest-cache/device-rows.ts';
import type { DeviceInfo, IngestCache, ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { visibleProduct } from '../ingest-cache/visible-product.ts';
import type { Network } from '../networks/network-event.ts';
import { MicroBatches } from '../../scheduling/micro-batches.ts';
import type { NamedDevices } from './named-devices.ts';
import type { Outbox } from '../outgoing/outbox.ts';
import { maskedHeaders } from '../decoders/masked-headers.ts';
import { uuidAt, uuidV7 } from '../text/uuid.ts';
import { lockWorkspace } from '../accounts/lock-workspace.ts';
import { pause } from '../../scheduling/pause.ts';
import { retryWhileOverloaded } from '../../scheduling/retry-while-overloaded.ts';
import type { Recipient, WebhookReceiver } from './webhook-receiver.ts';
import { type ListedUnknownDevice, listUnknownDevices } from './list-unknown-devices.ts';
import { MAX_UNKNOWN_DEVICES, type UnknownCallSeen, writeRound } from './write-unknown-calls.ts';
import { must } from '../../must.ts';

/** Maximum bytes of a body that is kept; longer ones are only counted. */
const MAX_BODY = 65_536;
/** Maximum calls of that length per transaction of deletion, and in memory of an adoption that waits for its turn. */
const [FORGOTTEN_AT_ONCE, REPLAYED_AT_ONCE] = [100, 10];
/** Retries until all nodes know a new device, and the pause between them. */
const [MOST_LOOKS, LOOK_AGAIN_MS] = [40, 50];

interface UnknownDevicesDeps {
  authenticator: Authenticator;
  database: Database;
  ingestCache: IngestCache;
  devices: DeviceService;
  receiver: WebhookReceiver;
  named: NamedDevices;
  outbox: Outbox;
  now: () => number;
}

/** Identifiers from networks that no device has, with the calls kept for them (CONTRACT 6). */
export class UnknownDevices {
  readonly #deps: UnknownDevicesDeps;
  readonly #rounds: MicroBatches<UnknownCallSeen, boolean>;
  /** Identifiers that this node is adopting: two adoptions at once would log their calls twice. */
  readonly #adopting = new Set<string>();
  #isEnding = false;

  constructor(deps: UnknownDevicesDeps) {
    this.#deps = deps;
    this.#rounds = new MicroBatches((workspaceId, calls) => writeRound(deps, workspaceId, calls));
  }

  /**
   * Keeps a call; resolves after the commit, shared with others of the workspace. false: a device has the identifier by
   * now, unless `isAmbiguous`: several had it. OVERLOADED: too many are queued.
   */
  keep(
    workspaceId: string,
    network: Network,
    identifier: string,
    request: DecoderRequest,
    { isAmbiguous = false } = {},
  ): Promise<boolean> {
    const receivedAt = this.#deps.now();
    const kept = request.body.length > MAX_BODY ? null : keptOf(request, receivedAt);
    const bytes = kept === null ? 0 : kept.headers.length + kept.query.length + kept.body.length;
    return this.#rounds.add(workspaceId, { network, identifier, isAmbiguous, receivedAt, kept }, bytes);
  }

  /** Ends adoptions in progress after the call in hand; repeated, they continue. */
  endAdoptions(): void {
    this.#isEnding = true;
  }

  /** Resolves when every queued call is written, or its sender has an error. */
  stop(): Promise<void> {
    return this.#rounds.settled();
  }

  /**
   * Unknown devices of one workspace, or of all that the token may READ; last seen first. Leaves out those that a
   * device has by now, unless their adoption was interrupted or several devices had them (`ambiguous`): their calls
   * have no other way out. `first`: maximum devices.
   */
  async list(
    access: Access,
    workspaceId: string | null | undefined,
    first?: number | null,
  ): Promise<ListedUnknownDevice[]> {
    if (workspaceId != null) access.requireWorkspace(workspaceId, 'READ');
    access.requireUnlimited();
    const workspaceIds = workspaceId == null ? access.workspaceIdsWith('READ') : [workspaceId];
    await this.#deps.named.settled(workspaceIds);
    return listUnknownDevices(this.#deps.database, workspaceIds, first);
  }

  /**
   * Makes a device of it, or takes the one that the product has by now, and hands over the kept calls, oldest first and
   * under their receipt time. Needs CONFIGURE, from the first call to the last. PLAN_LIMIT for a full plan; CONFLICT
   * while it is being adopted, or when a device of another product has the identifier. Repeated after a failure, it
   * continues.
   */
  async adopt(
    access: Access,
    id: string,
    productId: string,
    { name, plan }: { name?: string | null | undefined; plan?: string | null | undefined },
  ): Promise<Device> {
    const { database, ingestCache } = this.#deps;
    const row = id.includes('\0') ? null : await database.read().findOne(UnknownDeviceSchema, { id: id.toLowerCase() });
    if (row === null || !access.seesWorkspace(row.workspace.id)) throw notFound('unknown device', id);
    access.requireWorkspace(row.workspace.id, 'CONFIGURE');
    const product = await visibleProduct(ingestCache, access, productId, 'CONFIGURE');
    if (product.workspaceId !== row.workspace.id)
      throw badInput('productId: the product is of another workspace than the identifier.');
    if (row.product != null) return must((await this.#adoptNamed(access, product, [row], { name, plan }))[0]);
    return this.#once([row], () => this.#adopt(access, product, row, name ?? row.identifier, plan));
  }

  /** Adopts names of a product's webhook, all or none as its devices; see `adopt`. */
  async #adoptNamed(
    access: Access,
    product: ProductInfo,
    rows: readonly UnknownDevice[],
    options: { name?: string | null | undefined; plan?: string | null | undefined },
  ): Promise<Device[]> {
    const other = rows.find((row) => row.product?.key !== product.key);
    if (other !== undefined)
      throw badInput(
        `productId: "${other.identifier}" was named on the webhook of another product; adopt it into that.`,
      );
    return this.#once(rows, () => this.#deps.named.adopt(access, product, rows, options));
  }

  async #once<T>(rows: readonly UnknownDevice[], work: () => Promise<T>): Promise<T> {
    if (rows.some(({ id }) => this.#adopting.has(id)))
      throw conflict('This identifier is being adopted just now; wait until it is done.');
    for (const { id } of rows) this.#adopting.add(id);
    try {
      return await work();
    } finally {
      for (const { id } of rows) this.#adopting.delete(id);
    }
  }

  /**
   * Adopts several, in their order: first the names from the product's webhook, all or none of them, then the networks'
   * identifiers one by one. Like `adopt`; each device is named after its identifier.
   */
  async adoptMany(
    access: Access,
    ids: readonly string[],
    productId: string,
    plan: string | null | undefined,
  ): Promise<Device[]> {
    if (ids.length > MAX_UNKNOWN_DEVICES) throw badInput(`ids: at most ${MAX_UNKNOWN_DEVICES} at once.`);
    const wanted = [...new Set(ids.map((id) => id.toLowerCase()))];
    const among = { id: { $in: wanted.filter((id) => !id.includes('\0')) } };
    const found = (await this.#deps.database.read().find(UnknownDeviceSchema, among)) as UnknownDevice[];
    const rows = wanted.map((id) => {
      const row = found.find((one) => one.id === id);
      if (row === undefined || !access.seesWorkspace(row.workspace.id)) throw notFound('unknown device', id);
      return row;
    });
    for (const row of rows) access.requireWorkspace(row.workspace.id, 'CONFIGURE');
    const product = await visibleProduct(this.#deps.ingestCache, access, productId, 'CONFIGURE');
    if (rows.some((row) => row.workspace.id !== product.workspaceId))
      throw badInput('productId: the product is of another workspace than an identifier.');
    const named = rows.filter((row) => row.product != null);
    const adopted = named.length === 0 ? [] : await this.#adoptNamed(access, product, named, { plan });
    const devices = new Map(adopted.map((device, at) => [must(named[at]).id, device]));
    for (const { id, product: of } of rows)
      if (of == null) devices.set(id, await this.adopt(access, id, productId, { plan }));
    return wanted.map((id) => must(devices.get(id)));
  }

  async #adopt(
    access: Access,
    product: ProductInfo,
    row: UnknownDevice,
    name: string,
    plan: string | null | undefined,
  ): Promise<Device> {
    const { authenticator, database, devices, now } = this.#deps;
    const { id, identifier } = row;
    // An interrupted adoption leaves the device, and the rest of it in the list.
    const begin = (em: EntityManager): Promise<unknown> =>
      em.nativeUpdate(UnknownDeviceSchema, { id }, { adoptedAt: now() });
    const isThere = async (): Promise<boolean> => (await this.#deviceOf(product, identifier)) !== null;
    await this.#requireNowhereElse(product, identifier);
    if (await isThere()) await database.write(begin);
    else {
      try {
        const also = async (em: EntityManager): Promise<void> => {
          await this.#holdIdentity(em, product, row);
          await begin(em);
        };
        await devices.create(access, product.id, [{ name, serialNumber: identifier }], plan, { also, areSent: true });
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'CONFLICT')) throw error;
        // Another request made the device: wait until this node knows it, within 1.2 s.
        for (let looks = 0; !(await isThere()); looks += 1) {
          await this.#requireNowhereElse(product, identifier);
          if (looks === MOST_LOOKS) throw error;
          await pause(LOOK_AGAIN_MS);
        }
        await database.write(begin);
      }
    }
    // Later calls find the device; replay the earlier ones.
    const replayed = new Set<string>();
    do await this.#replay(authenticator.follow(access), product, row, replayed);
    while (!(await this.#forget(row, replayed)));
    const { device } = await this.#recipient(product, identifier);
    return findDevice(database.read(), access, device.id, 'CONFIGURE');
  }

  /** Deletes unknown devices last heard of before the time, in ms UTC. */
  async forgetBefore(time: number): Promise<void> {
    const { database } = this.#deps;
    const old = 'last_seen_at < ?';
    const ofOld = `unknown_device_id in (select id from unknown_device where ${old})`;
    const shared = { key: 'id', of: [time], atOnce: FORGOTTEN_AT_ONCE };
    await deleteInSlices(database, { ...shared, table: 'unknown_call', where: ofOld });
    await deleteInSlices(database, { ...shared, table: 'unknown_device', where: old });
  }

  /** Replays the kept calls. Rejects with NOT_FOUND when the product or the device has been deleted. */
  async #replay(
    accessNow: () => Promise<Access>,
    product: ProductInfo,
    { id, identifier }: UnknownDevice,
    replayed: Set<string>,
  ): Promise<void> {
    const { receiver } = this.#deps;
    let last = 0;
    for await (const { receivedAt, ...call } of this.#callsOf(id)) {
      // Give each call a millisecond of its own, and the same one when the adoption is repeated.
      last = Math.max(receivedAt, last + 1);
      const kept = { since: last, id: uuidAt(last, call.id) };
      if (replayed.has(call.id)) continue;
      if (this.#isEnding) throw new AppError('UNAVAILABLE', 'The server is stopping; adopt the device again later.');
      const request = requestOfCall({ ...call, method: 'POST' });
      const find = async (): Promise<Recipient> => {
        const present = await accessNow();
        const { product: current, device } = await this.#recipient(product, identifier);
        present.requireProduct(current, 'CONFIGURE');
        return { product: current, native: { device } };
      };
      await retryWhileOverloaded(() => receiver.receive(find, request, kept));
      replayed.add(call.id);
    }
  }

  /** The kept calls of the device, in their order. */
  async *#callsOf(unknownDevice: string): AsyncGenerator<UnknownCall> {
    const options = { orderBy: { id: 'asc' }, limit: REPLAYED_AT_ONCE } as const;
    for (let after = ''; ;) {
      const where = { unknownDevice, id: { $gt: after } };
      const calls = (await this.#deps.database.read().find(UnknownCallSchema, where, options)) as UnknownCall[];
      yield* calls;
      if (calls.length < REPLAYED_AT_ONCE) return;
      after = must(calls.at(-1)).id;
    }
  }

  /** The present product and its device. */
  async #recipient({ id }: ProductInfo, identifier: string): Promise<{ product: ProductInfo; device: DeviceInfo }> {
    const product = await this.#deps.ingestCache.product(id);
    if (product === null) throw notFound('product', id);
    const device = await this.#deviceOf(product, identifier);
    if (device === null) throw notFound('device', identifier);
    return { product, device };
  }

  /** Deletes an unknown device whose calls were replayed; false: more of them have come. */
  #forget({ id, workspace }: UnknownDevice, replayed: ReadonlySet<string>): Promise<boolean> {
    return this.#deps.database.write(async (em) => {
      // Lock, so that no node keeps calls meanwhile.
      await lockWorkspace(em, workspace.id);
      const calls = await em.find(UnknownCallSchema, { unknownDevice: id }, { fields: ['id'] });
      if (calls.some((call) => !replayed.has(call.id))) return false;
      await em.nativeDelete(UnknownDeviceSchema, { id });
      return true;
    });
  }

  /**
   * CONFLICT when another product has the device: of two devices with one identifier in a workspace, neither gets the
   * network's messages.
   */
  async #requireNowhereElse({ id, workspaceId }: ProductInfo, identifier: string): Promise<void> {
    const devices = await this.#deps.ingestCache.devicesNamed([workspaceId], identifier);
    const other = devices.find(({ productId }) => productId !== id);
    if (devices.length > 1) {
      const them = devices.map(({ name, product }) => `"${name}" of the product "${product.name}"`);
      throw conflict(
        `id: several devices have this identifier: ${them.join(', ')}; rename or delete all but one first.`,
      );
    }
    if (other !== undefined) throw isElsewhere(other.name, other.product.name, other.id);
  }

  /**
   * Locks the identifier against adoption into another product until the transaction ends; CONFLICT if that has
   * happened.
   */
  async #holdIdentity(em: EntityManager, { id, workspaceId }: ProductInfo, { identity }: UnknownDevice): Promise<void> {
    await lockWorkspace(em, workspaceId);
    const [other] = await em.execute<{ id: string; name: string; product: string }[]>(
      `select d.id, d.name, p.name as product from device d join product p on p."key" = d.product_key and p.deleted_at is null
       where d.workspace_id = ? and d.${columnOf(identity)} = ? and p.id <> ? limit 1`,
      [workspaceId, identity, id],
    );
    if (other !== undefined) throw isElsewhere(other.name, other.product, other.id);
  }

  async #deviceOf(product: ProductInfo, identifier: string) {
    const devices = await this.#deps.ingestCache.devicesNamed([product.workspaceId], identifier);
    return devices.find((device) => device.productId === product.id) ?? null;
  }
}

function isElsewhere(device: string, product: string, existingId: string): AppError {
  return conflict(
    `productId: the device "${device}" of the product "${product}" has this identifier by now; ` +
      'adopt it into that product, or delete that device first.',
    { existingId },
  );
}

function keptOf(request: DecoderRequest, receivedAt: number): NonNullable<UnknownCallSeen['kept']> {
  return {
    // Ids in the order of arrival, also within a millisecond.
    id: uuidV7(receivedAt),
    path: request.path,
    query: JSON.stringify(request.GET),
    headers: maskedHeaders(request.headers),
    // Replace characters that PostgreSQL cannot store; no valid message has them.
    body: request.body.replaceAll('\0', ' ').toWellFormed(),
  };
}
