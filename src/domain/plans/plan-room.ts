import type { EntityManager } from '@mikro-orm/sql';
import type { Access } from '../access/access.ts';
import { lockWorkspace } from '../accounts/lock-workspace.ts';
import { DeviceSchema } from '../entities/device.ts';
import { type Plans, requireAllowance } from './plans.ts';

interface PlanRoomDeps {
  em: EntityManager;
  access: Access;
  plans: Plans;
  workspaceId: string;
  /** False: reads without a lock, for a dry run. */
  lock: boolean;
}

/**
 * The devices that plans still cover in a workspace. Locks the workspace with the first plan that has a bound, so that
 * no other request takes the room; lock a product first, if at all.
 */
export class PlanRoom {
  readonly #deps: PlanRoomDeps;
  /** Slug of a plan → its devices, with those that took room here. */
  readonly #used = new Map<string, number>();

  constructor(deps: PlanRoomDeps) {
    this.#deps = deps;
  }

  /** Takes room for so many devices; PLAN_LIMIT, and none is taken, when there is not enough. */
  async take(slug: string, more = 1): Promise<void> {
    const { em, access, plans, workspaceId, lock } = this.#deps;
    const plan = plans.bySlug(slug, 'plan');
    if (plan.deviceAllowance === null) return;
    let used = this.#used.get(slug);
    if (used === undefined) {
      if (lock) await lockWorkspace(em, workspaceId);
      used = await em.count(DeviceSchema, { workspace: workspaceId, plan: slug });
      this.#used.set(slug, used);
    }
    requireAllowance(plan, used + more, !access.limited);
    this.#used.set(slug, used + more);
  }
}
