import type { EntityManager } from '@mikro-orm/sql';
import { badInput, conflict } from '../../errors.ts';
import { TransactionSlices } from '../../scheduling/yield-to-event-loop.ts';
import type { Access } from '../access/access.ts';
import { findProduct } from '../access/find-product.ts';
import { lockWorkspace } from '../accounts/lock-workspace.ts';
import { TagListType } from '../entities/tag-list.ts';
import { noteOtherPlans } from '../notes/note-changes.ts';
import type { HistoryAtRisk } from '../plans/history-at-risk.ts';
import { PlanRoom } from '../plans/plan-room.ts';
import type { Plans } from '../plans/plans.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Database } from '../ports/database.ts';
import { changeOfDevices } from './change-of-devices.ts';
import { checkLocation, checkTags } from './device-input.ts';
import type { DeviceFilter } from './device-filter.ts';
import type { DeviceList } from './device-list.ts';
import { type ChangedRow, updateDevices } from './device-rows.ts';
import { deviceSearchText, keptMetadata } from './device-search-text.ts';
import type { Asker } from './device-scan.ts';
import { checkOfflineAfter } from './offline-after.ts';
import { type PresentDevice, readPresent } from './present-devices.ts';
import { must } from '../../must.ts';

/** Maximum devices per `updateDevices`. */
const MAX_CHANGED = 10_000;
const TAGS = new TagListType();

/** Changes of many devices. Left out: unchanged; null clears. `addTags` and `removeTags` after `tags`. */
interface BulkChange {
  tags?: string[] | null;
  addTags?: string[] | null;
  removeTags?: string[] | null;
  location?: string | null;
  plan?: string | null;
  offlineAfterSeconds?: number | null;
}

interface Options {
  dryRun: boolean;
  /** True: also to a plan that keeps less of the history. */
  isConfirmed: boolean;
  asker?: Asker | undefined;
}

interface BulkChangesDeps {
  database: Database;
  cluster: Cluster;
  list: Pick<DeviceList, 'places'>;
  plans: Plans;
  atRisk: HistoryAtRisk;
  now: () => number;
}

/** Changes of all devices that match a filter. */
export class BulkChanges {
  readonly #deps: BulkChangesDeps;

  constructor(deps: BulkChangesDeps) {
    this.#deps = deps;
  }

  /**
   * Changes the devices, all or none; a dry run only counts. BAD_USER_INPUT for a filter that says nothing or matches
   * more than 10,000, CONFLICT for a plan that keeps less of the history, unless that is confirmed.
   */
  async run(
    access: Access,
    filter: DeviceFilter,
    change: BulkChange,
    { dryRun, isConfirmed, asker }: Options,
  ): Promise<{ matched: number; changed: number }> {
    if (Object.values(filter).every((condition) => condition == null))
      throw badInput('updateDevices: say which devices; workspaceId alone for all of a workspace.');
    access.workspaceIdsWith('CONFIGURE');
    // Before any device is found, also where none is: the audit log tells of it there.
    const { productId, workspaceId } = filter;
    if (workspaceId != null && !access.limited) access.requireWorkspace(workspaceId, 'CONFIGURE');
    if (productId != null) await findProduct(this.#deps.database.read(), access, productId, 'CONFIGURE');
    const wanted = this.#checked(change);
    const places = await this.#deps.list.places(access, filter, asker);
    if (places.length > MAX_CHANGED)
      throw badInput(`updateDevices: at most ${MAX_CHANGED} devices at once, not ${places.length}; narrow the filter.`);
    const { database, cluster, plans, atRisk } = this.#deps;
    const { dialect } = database;
    const work = async (em: EntityManager): Promise<{ id: string; row: ChangedRow; present: PresentDevice }[]> => {
      // Before the devices, in one order: against deadlocks.
      if (!dryRun && wanted.plan !== undefined)
        for (const id of [...new Set(places.map(({ workspaceId }) => workspaceId))].sort()) await lockWorkspace(em, id);
      const keys = places.map(({ key }) => key);
      const present = await readPresent(em, dialect, keys, dryRun);
      const rooms = new Map<string, PlanRoom>();
      const changed: { id: string; row: ChangedRow; present: PresentDevice }[] = [];
      const turns = new TransactionSlices();
      for (const device of present.values()) {
        const { id, workspace_id: workspaceId, product_id: productId } = device;
        access.requireDevice({ id, workspaceId, productId }, 'CONFIGURE');
        const row = changedRow(device, wanted);
        if (row === null) continue;
        if (row.plan !== device.plan) {
          if (!isConfirmed && atRisk.keepsLess(device.plan, row.plan)) throw lessHistory(device, row.plan);
          const room = rooms.get(workspaceId) ?? new PlanRoom({ em, access, plans, workspaceId, lock: false });
          rooms.set(workspaceId, room);
          await room.take(row.plan);
        }
        changed.push({ id, row, present: device });
        await turns.next();
      }
      if (dryRun) return changed;
      for (const { row, present: before } of changed)
        if (row.plan !== before.plan) {
          await atRisk.changesPlan(em, row.key, before.plan, row.plan);
          await turns.next();
        }
      await updateDevices(
        em,
        dialect,
        changed.map(({ row }) => row),
      );
      const others = changed.filter(({ row, present: before }) => row.plan !== before.plan);
      await noteOtherPlans(
        { em, access, now: this.#deps.now() },
        dialect,
        others.map(({ row: { key, plan }, present: before }) => ({ key, before: before.plan, plan })),
      );
      return changed;
    };
    if (dryRun) return { matched: places.length, changed: (await work(database.read())).length };
    const changed = places.length === 0 ? [] : await database.write(work);
    const byProduct = Map.groupBy(changed, ({ present }) => present.product_id);
    await cluster.changed(
      [...byProduct].map(([productId, some]) =>
        changeOfDevices(
          { productId, workspaceId: must(some[0]).present.workspace_id },
          some.map(({ id }) => id),
        ),
      ),
    );
    return { matched: places.length, changed: changed.length };
  }

  #checked({ tags, addTags, removeTags, location, plan, offlineAfterSeconds }: BulkChange): CheckedChange {
    if (plan === null) throw badInput('input.plan: cannot be cleared; leave it out to keep it.');
    return {
      tags: tags === undefined ? undefined : checkTags(tags ?? [], 'input.tags'),
      addTags: checkTags(addTags ?? [], 'input.addTags'),
      removeTags: new Set(removeTags ?? []),
      location: location === undefined ? undefined : checkLocation(location, 'input.location'),
      plan: plan === undefined ? undefined : this.#deps.plans.bySlug(plan, 'input.plan').slug,
      offlineAfterSeconds:
        offlineAfterSeconds === undefined
          ? undefined
          : checkOfflineAfter(offlineAfterSeconds, 'input.offlineAfterSeconds'),
    };
  }
}

interface CheckedChange {
  tags: string[] | undefined;
  addTags: string[];
  removeTags: ReadonlySet<string>;
  location: string | null | undefined;
  plan: string | undefined;
  offlineAfterSeconds: number | null | undefined;
}

/** The columns as they are wanted; null: the device has them already. */
function changedRow(device: PresentDevice, wanted: CheckedChange): ChangedRow | null {
  const own = TAGS.convertToJSValue(device.tags);
  const all = [...new Set([...(wanted.tags ?? own), ...wanted.addTags])].filter((tag) => !wanted.removeTags.has(tag));
  const tags = checkTags(all, `input: the tags of "${device.name}"`);
  const plan = wanted.plan ?? device.plan;
  const location = wanted.location === undefined ? device.location : wanted.location;
  const offline = wanted.offlineAfterSeconds === undefined ? device.offline_after_seconds : wanted.offlineAfterSeconds;
  const isSame =
    TAGS.convertToDatabaseValue(tags) === device.tags &&
    plan === device.plan &&
    location === device.location &&
    offline === device.offline_after_seconds;
  if (isSame) return null;
  const { key, name, serial_number: serialNumber } = device;
  const searched = keptMetadata(device.search_text);
  const searchText = deviceSearchText({ name, serialNumber, location, tags }, searched);
  return { key, name, searchText, tags, plan, location, offlineAfterSeconds: offline };
}

function lessHistory({ id, name, plan }: PresentDevice, wanted: string): Error {
  return conflict(
    `input.plan: "${wanted}" keeps less history than "${plan}", on which the device "${name}" is; planChange says what ` +
      'that takes of a device. Say "confirm: true" to change it all the same.',
    { existingId: id },
  );
}
