import { AppError } from '../../errors.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import type { Watched } from './status-rows.ts';

/** Of all workspaces together; each takes some 300 bytes. */
const MAX_WATCHED = 400_000;
/** Devices that are gone over in one piece. */
const SLICE = 10_000;

/** Devices whose status somebody watches, by key. A workspace has at most half of what the others leave free. */
export class WatchedDevices {
  readonly #byKey = new Map<number, Watched>();
  readonly #byId = new Map<string, Watched>();
  readonly #ofWorkspaces = new Map<string, Set<Watched>>();
  readonly #most: number;

  constructor(most = MAX_WATCHED) {
    this.#most = most;
  }

  get(deviceKey: number): Watched | undefined {
    return this.#byKey.get(deviceKey);
  }

  all(): Watched[] {
    return [...this.#byKey.values()];
  }

  /** One more; false: its workspace has no room. */
  add(device: Watched): boolean {
    const { deviceKey, deviceId, workspaceId } = device;
    const others = this.#ofWorkspaces.get(workspaceId) ?? new Set();
    if (others.size >= (this.#most - (this.#byKey.size - others.size)) / 2) return false;
    this.#byKey.set(deviceKey, device);
    this.#byId.set(deviceId, device);
    this.#ofWorkspaces.set(workspaceId, others.add(device));
    return true;
  }

  /** What OVERLOADED says of a workspace that has no room. How much it had would say how many devices others have. */
  tooMany(): AppError {
    return new AppError('OVERLOADED', 'There are more devices in the workspace than can be watched; ask `devices`.');
  }

  /** Goes over all, or those of one workspace, and lets others have their turn. */
  async each(visit: (device: Watched) => unknown, workspaceId?: string): Promise<void> {
    const devices = workspaceId === undefined ? this.#byKey.values() : (this.#ofWorkspaces.get(workspaceId) ?? []);
    let visited = 0;
    for (const device of devices) {
      visit(device);
      if (++visited % SLICE === 0) await yieldToEventLoop();
    }
  }

  /** Forgets those that are gone: of all, or of one workspace. */
  forget(isGone: (device: Watched) => boolean, workspaceId?: string): Promise<void> {
    return this.each((device) => isGone(device) && this.#delete(device), workspaceId);
  }

  /** Forgets the one with this id, if it is watched. */
  forgetOne(deviceId: string): void {
    const device = this.#byId.get(deviceId);
    if (device !== undefined) this.#delete(device);
  }

  #delete(device: Watched): void {
    const { deviceKey, deviceId, workspaceId } = device;
    this.#byKey.delete(deviceKey);
    this.#byId.delete(deviceId);
    const others = this.#ofWorkspaces.get(workspaceId);
    others?.delete(device);
    if (others?.size === 0) this.#ofWorkspaces.delete(workspaceId);
  }
}
