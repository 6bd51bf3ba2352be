import { type EntityManager, LockMode } from '@mikro-orm/sql';
import type { Database } from '../ports/database.ts';
import { deviceIdentity } from '../text/device-identity.ts';
import { badInput, notFound } from '../../errors.ts';
import type { Change, Cluster } from '../ports/cluster.ts';
import type { MeasurementStore, Piece } from '../ports/store.ts';
import { pause } from '../../scheduling/pause.ts';
import { HistoryAtRisk, type HistoryLoss, requireConfirmation } from '../plans/history-at-risk.ts';
import { DEFAULT_PLAN, type Plan, type Plans, requireAllowance } from '../plans/plans.ts';
import { lockProduct, placeOfProduct } from '../access/find-product.ts';
import { type Product, ProductSchema } from '../entities/product.ts';
import type { Access } from '../access/access.ts';
import { lockWorkspace } from '../accounts/lock-workspace.ts';
import { type Device, DeviceSchema } from '../entities/device.ts';
import {
  checkDeviceName,
  checkLocation,
  checkMetadata,
  checkSerialNumber,
  checkTags,
  type NewDevice,
} from './device-input.ts';
import { noteChanges, noteReplaced, toldState } from '../notes/note-changes.ts';
import { findDevice, findDeviceKeys, placeOfDevice } from '../access/find-device.ts';
import { checkOfflineAfter } from './offline-after.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import { deleteDeviceRows, type EndAlerts } from './device-rows.ts';
import { deviceSearchText, keptMetadata, metadataText } from './device-search-text.ts';
import { type OnExisting, type PreparedWish, prepareWish, wishOf } from './device-wish.ts';
import { deviceAsSettled, settleDevices, storeSettled } from './settle-devices.ts';
import { PlanRoom } from '../plans/plan-room.ts';
import { changeOfDevice, changeOfDevices } from './change-of-devices.ts';
import { absorbDevice } from './absorb-device.ts';
import type { DeviceMoves, MoveWish, PreparedMove, ProductChange } from '../moves/device-moves.ts';
import type { FieldWish } from '../moves/field-pairs.ts';
import { serialMistake } from './serial-mistake.ts';
import { distinctIdentities, requireFreeSerials } from './taken-serials.ts';
import { must } from '../../must.ts';

/** Time after which handing over values continues behind the answer. */
const LONGEST_HAND_OVER_MS = 15_000;
const MAX_AT_ONCE = 10_000;
const CHECKED_AT_ONCE = 500;

interface DeviceServiceDeps {
  database: Database;
  cluster: Cluster;
  store: MeasurementStore;
  moves: DeviceMoves;
  plans: Plans;
  endAlerts: EndAlerts;
  now: () => number;
}

/** Left out: unchanged. null clears metadata, location, tags and offlineAfterSeconds; the others cannot be cleared. */
interface DeviceChange {
  name?: string | null;
  serialNumber?: string | null;
  plan?: string | null;
  tags?: string[] | null;
  metadata?: unknown;
  location?: string | null;
  offlineAfterSeconds?: number | null;
  /** The product that it moves to, and how its fields go on there. */
  productId?: string | null;
  fields?: FieldWish[] | null;
}

interface Creating {
  also?: (em: EntityManager) => Promise<unknown>;
  areSent?: boolean;
  onExisting?: OnExisting;
}

/** True when the caller knows the loss of a change; `piece` schedules its counting. */
interface Confirming {
  isConfirmed: boolean;
  piece: Piece;
}

const UNCONFIRMED: Confirming = { isConfirmed: false, piece: (work) => work() };

/** Devices (CONTRACT 1). A change is seen by the next request on every node. */
export class DeviceService {
  readonly #deps: DeviceServiceDeps;
  readonly #atRisk: HistoryAtRisk;

  constructor(deps: DeviceServiceDeps) {
    this.#deps = deps;
    this.#atRisk = new HistoryAtRisk(deps);
  }

  get(access: Access, id: string): Promise<Device> {
    return findDevice(this.#deps.database.read(), access, id, 'READ');
  }

  /**
   * Makes devices, all or none, in the order given; without a plan on `free`. A device of the product that has the
   * serial number already is CONFLICT (FAIL), taken as it is (KEEP), or changed to what is given (UPDATE). CONFLICT
   * names the serial number that is taken elsewhere, PLAN_LIMIT the plan to choose. `also`: locks, checks and writes in
   * the same transaction, before the devices, which lock their workspace too. `areSent`: serial numbers as a network
   * sends them, in any form.
   */
  async create(
    access: Access,
    productId: string,
    devices: NewDevice[],
    planSlug?: string | null,
    { also, areSent = false, onExisting = 'FAIL' }: Creating = {},
  ): Promise<Device[]> {
    if (devices.length === 0 || devices.length > MAX_AT_ONCE)
      throw badInput(`devices: from 1 to ${MAX_AT_ONCE} at once, not ${devices.length}.`);
    const { database, plans, now } = this.#deps;
    const plan = plans.bySlug(planSlug ?? DEFAULT_PLAN, 'plan').slug;
    const wishes: PreparedWish[] = [];
    for (const [index, device] of devices.entries()) {
      const wish = wishOf(device, planSlug == null ? undefined : plan, `devices[${index}]`);
      wishes.push(prepareWish(wish, plan));
      if (index % CHECKED_AT_ONCE === CHECKED_AT_ONCE - 1) await yieldToEventLoop();
    }
    const pathOf = (index: number): string => `devices[${index}].serialNumber`;
    distinctIdentities(
      wishes.map(({ wish }) => wish.serialNumber),
      pathOf,
    );
    const { dialect } = database;
    // Keep this transaction short: on SQLite it delays recording.
    const done = await database.write(async (em) => {
      const product = await lockProduct(em, access, productId, 'CONFIGURE');
      const wanted = new Map<string, number>();
      const room = { take: async (slug: string) => void wanted.set(slug, (wanted.get(slug) ?? 0) + 1) };
      const how = { em, dialect, product, onExisting, pathOf, asker: access, room, atRisk: this.#atRisk, areSent };
      const settled = await settleDevices(wishes, how);
      const refused = settled.find((one) => one.kind === 'refused');
      if (refused !== undefined) throw refused.error;
      const planRoom = new PlanRoom({ em, access, plans, workspaceId: product.workspace.id, lock: true });
      for (const [slug, more] of wanted) await planRoom.take(slug, more);
      await also?.(em);
      const createdAt = now();
      const keys = await storeSettled({ em, dialect, product, createdAt }, settled);
      return settled.map((one) => deviceAsSettled(one, { product, createdAt, keys }));
    });
    const place = { productId: must(done[0]).product.id, workspaceId: must(done[0]).workspace.id };
    await this.#deps.cluster.changed([
      changeOfDevices(
        place,
        done.map(({ id }) => id),
      ),
    ]);
    return done;
  }

  /** Loss of a device's history by a change of its plan. */
  async planChange(access: Access, id: string, plan: string, piece: Piece): Promise<HistoryLoss> {
    const device = await findDevice(this.#deps.database.read(), access, id, 'READ');
    return this.#atRisk.byPlan(device, this.#deps.plans.bySlug(plan, 'plan'), piece);
  }

  /** The effect of a move to another product on the device's history and configuration. */
  productChange(access: Access, id: string, wish: MoveWish, piece: Piece): Promise<ProductChange> {
    return this.#deps.moves.preview(access, id, wish, piece);
  }

  /**
   * Changes a device. CONFLICT with the number of lost values for a change of plan or product that loses history, unless
   * it is confirmed; `piece` schedules their counting.
   */
  async update(
    access: Access,
    id: string,
    change: DeviceChange,
    confirming: Confirming = UNCONFIRMED,
  ): Promise<Device> {
    const { isConfirmed, piece } = confirming;
    const wanted = change.plan == null ? null : this.#deps.plans.bySlug(change.plan, 'input.plan');
    if (wanted !== null && !isConfirmed) {
      const found = await findDevice(this.#deps.database.read(), access, id, 'CONFIGURE');
      requireConfirmation(await this.#atRisk.byPlan(found, wanted, piece));
    }
    for (const key of ['name', 'serialNumber', 'plan', 'productId'] as const)
      if (change[key] === null) throw badInput(`input.${key}: cannot be cleared; leave it out to keep it.`);
    const move = await this.#prepareMove(access, id, change, confirming);
    const changes: Change[] = [];
    // The entry of the audit log names what is returned.
    const device = await this.#deps.database.write(async (em) => {
      const found = await findDevice(em, access, id, 'CONFIGURE');
      changes.splice(0, 1, changeOfDevice(found));
      const before = toldState(found);
      if (move !== null) await this.#deps.moves.carryOut(em, access, found, move);
      const serialNumber = change.serialNumber ?? found.serialNumber;
      const path = change.serialNumber == null ? 'input.productId' : 'input.serialNumber';
      if (move !== null || serialNumber !== found.serialNumber)
        await this.#changeSerial(em, access, found, serialNumber, path);
      if (wanted !== null && wanted.slug !== found.plan) {
        await requireRoom(em, access, found.workspace.id, wanted, 1);
        await this.#atRisk.changesPlan(em, found.key, found.plan, wanted.slug);
        found.plan = wanted.slug;
      }
      if (change.name != null) found.name = checkDeviceName(change.name, 'input.name');
      if (change.tags !== undefined) found.tags = checkTags(change.tags ?? [], 'input.tags');
      if (change.metadata !== undefined) found.metadata = checkMetadata(change.metadata, 'input.metadata');
      if (change.location !== undefined) found.location = checkLocation(change.location, 'input.location');
      if (change.offlineAfterSeconds !== undefined)
        found.offlineAfterSeconds = checkOfflineAfter(change.offlineAfterSeconds, 'input.offlineAfterSeconds');
      const searched = change.metadata === undefined ? keptMetadata(found.searchText) : metadataText(change.metadata);
      found.searchText = deviceSearchText(found, searched);
      await noteChanges({ em, access, now: this.#deps.now() }, before, found);
      return found;
    });
    await this.#deps.cluster.changed(move === null ? changes : [...changes, changeOfDevice(device)]);
    if (move !== null) void this.#deps.store.settlePurges();
    return device;
  }

  async #prepareMove(
    access: Access,
    id: string,
    { productId, fields }: DeviceChange,
    confirming: Confirming,
  ): Promise<PreparedMove | null> {
    if (productId == null && fields != null)
      throw badInput('input.fields: says how fields go on in another product; give its productId too.');
    if (productId == null) return null;
    return this.#deps.moves.prepare(access, id, { productId, fields: fields ?? [], path: 'input.' }, confirming);
  }

  /** Deletes devices with their measurements, all or none. */
  async delete(access: Access, ids: string[]): Promise<string[]> {
    if (ids.length > MAX_AT_ONCE) throw badInput(`ids: at most ${MAX_AT_ONCE} at once.`);
    const devices = await findDeviceKeys(this.#deps.database.read(), access, ids, 'CONFIGURE');
    const tell = await this.#deps.database.write(async (em) => {
      const keys = devices.map((device) => device.key);
      const told = await this.#deps.endAlerts(em, keys);
      const gone = new Set(await deleteDeviceRows(em, this.#deps.database.dialect, keys));
      const missed = devices.find((device) => !gone.has(device.id));
      // Another request has deleted it in between.
      if (missed !== undefined) throw notFound('device', missed.id);
      return told;
    });
    tell();
    const idsOf = (some: typeof devices): string[] => some.map((device) => device.id);
    const byProduct = [...Map.groupBy(devices, (device) => device.productId).values()];
    await this.#deps.cluster.changed(byProduct.map((own) => changeOfDevices(must(own[0]), idsOf(own))));
    void this.#deps.store.settlePurges();
    return idsOf(devices);
  }

  /**
   * Continues the device with another sensor (contract `replaceDevice`): gives it the serial number and, from the
   * device of the same product that had it (`absorb`), the recorded values; the absorbed device is deleted. CONFLICT
   * when the serial number belongs to a device that is not absorbed.
   */
  async replace(access: Access, id: string, serialNumber: string, absorb: string | null): Promise<Device> {
    checkSerialNumber(serialNumber, 'serialNumber');
    let tell = (): void => {};
    const { device, gone } = await this.#deps.database.write(async (em) => {
      const found = await findDevice(em, access, id, 'CONFIGURE');
      const before = toldState(found);
      const absorbed = absorb === null ? null : await findDevice(em, access, absorb, 'CONFIGURE');
      if (absorbed !== null) {
        // First what is locked before alerts elsewhere.
        await em.findOne(ProductSchema, { key: absorbed.product.key }, { lockMode: LockMode.PESSIMISTIC_WRITE });
        tell = await this.#deps.endAlerts(em, [absorbed.key]);
        await this.#atRisk.changesPlan(em, found.key, absorbed.plan, found.plan);
        await absorbDevice(em, found, absorbed, serialNumber, this.#deps.now());
      }
      if (serialNumber !== found.serialNumber)
        await this.#changeSerial(em, absorbed === null ? access : null, found, serialNumber, 'input.serialNumber');
      found.searchText = deviceSearchText(found, keptMetadata(found.searchText));
      await noteReplaced({ em, access, now: this.#deps.now() }, before, found, absorbed?.name ?? null);
      return { device: found, gone: absorbed?.id ?? null };
    });
    tell();
    const ids = gone === null ? [device.id] : [device.id, gone];
    await this.#deps.cluster.changed([changeOfDevices(placeOfDevice(device), ids)]);
    if (gone !== null) await Promise.race([this.#deps.store.settlePurges(), pause(LONGEST_HAND_OVER_MS)]);
    return device;
  }

  /** `asker`: the access that learns whether another device has the serial number; null: it sees that device. */
  async #changeSerial(
    em: EntityManager,
    asker: Access | null,
    device: Device,
    serialNumber: string,
    path: string,
  ): Promise<void> {
    checkSerialNumber(serialNumber, path);
    asker?.requireAllDevices(placeOfProduct(device.product));
    const options = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true };
    const held = await em.findOne(ProductSchema, { key: device.product.key, deletedAt: null }, options);
    // The device was deleted since it was read.
    if (held === null) throw notFound('device', device.id);
    requireNoMistake(serialNumber, device.product, path);
    await requireFreeSerials(em, this.#deps.database.dialect, device.product, {
      serials: [serialNumber],
      pathOf: () => path,
      asker,
      own: device.key,
    });
    device.serialNumber = serialNumber;
    device.serialFolded = deviceIdentity(serialNumber);
  }
}

/** BAD_USER_INPUT naming `path` when the serial number is nearly one that a network sends. */
function requireNoMistake(serial: string, { deviceType }: Product, path: string): void {
  const mistake = serialMistake(serial, deviceType);
  if (mistake !== null) throw badInput(`${path}: ${mistake}`);
}

/** PLAN_LIMIT unless that many more devices fit; locks the workspace, so that no other request takes the room. */
async function requireRoom(
  em: EntityManager,
  access: Access,
  workspaceId: string,
  plan: Plan,
  more: number,
): Promise<void> {
  if (plan.deviceAllowance === null) return;
  await lockWorkspace(em, workspaceId);
  const used = await em.count(DeviceSchema, { workspace: workspaceId, plan: plan.slug });
  requireAllowance(plan, used + more, !access.limited);
}
