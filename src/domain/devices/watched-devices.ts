import { Tally } from '../tally.ts';
import { AppError } from '../../errors.ts';
import { giveWay } from '../give-way.ts';
import type { Watched } from './status-rows.ts';

/** Of all workspaces together; each takes some 200 bytes. */
const MAX_WATCHED = 400_000;
/** Devices that are gone over in one piece. */
const SLICE = 10_000;

/** Devices whose status somebody watches, by key. A workspace has at most half of what the others leave free. */
export class WatchedDevices {
  readonly #devices = new Map<number, Watched>();
  readonly #ofWorkspaces = new Tally();
  readonly #most: number;

  constructor(most = MAX_WATCHED) {
    this.#most = most;
  }

  get(deviceKey: number): Watched | undefined {
    return this.#devices.get(deviceKey);
  }

  all(): Watched[] {
    return [...this.#devices.values()];
  }

  /** One more; false: its workspace has no room. */
  add(device: Watched): boolean {
    const { deviceKey, workspaceId } = device;
    const count = this.#ofWorkspaces.of(workspaceId);
    if (count >= (this.#most - (this.#devices.size - count)) / 2) return false;
    this.#devices.set(deviceKey, device);
    this.#ofWorkspaces.add(workspaceId, 1);
    return true;
  }

  /** What OVERLOADED says of a workspace that has no room. How much it had would say how many devices others have. */
  tooMany(): AppError {
    return new AppError('OVERLOADED', 'There are more devices in the workspace than can be watched; ask `devices`.');
  }

  /** Goes over all, and lets others have their turn. */
  async each(visit: (device: Watched) => unknown): Promise<void> {
    let visited = 0;
    for (const device of this.#devices.values()) {
      visit(device);
      if (++visited % SLICE === 0) await giveWay();
    }
  }

  /** Forgets those that are gone. */
  forget(isGone: (device: Watched) => boolean): Promise<void> {
    return this.each((device) => {
      if (isGone(device) && this.#devices.delete(device.deviceKey)) this.#ofWorkspaces.add(device.workspaceId, -1);
    });
  }

  clear(): void {
    this.#devices.clear();
    this.#ofWorkspaces.clear();
  }
}
