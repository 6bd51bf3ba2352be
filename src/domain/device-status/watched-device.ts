/** A device whose status is watched, and where it belongs. */
export interface WatchedPlace {
  deviceKey: number;
  deviceId: string;
  productId: string;
  workspaceId: string;
}

/** A watched device and its state; times in ms UTC. */
export interface Watched extends WatchedPlace {
  limitMs: number;
  /** Else the limit is its product's. */
  hasOwnLimit: boolean;
  /** Receipt time of what it sent last; -Infinity: nothing ever. */
  heardAt: number;
  online: boolean;
}

/** A device went silent, or is heard again; `at` in ms UTC: when the silence was too long, or its end. */
export interface StatusEvent extends WatchedPlace {
  online: boolean;
  at: number;
}

/** An event, and when the status changed: by a new limit later than `at`. */
export interface StatusChange {
  event: StatusEvent;
  changedAt: number;
}

/** Whether it has been silent for longer than it may. */
export function isOverdue({ heardAt, limitMs }: Pick<Watched, 'heardAt' | 'limitMs'>, now: number): boolean {
  return heardAt + limitMs < now;
}

/** Gives the device its other status. */
export function turn(device: Watched, now: number, byNewLimit: boolean): StatusChange {
  device.online = !device.online;
  const { deviceKey, deviceId, productId, workspaceId, heardAt, limitMs, online } = device;
  const silentAt = heardAt === -Infinity ? now : Math.min(heardAt + limitMs, now);
  const at = online ? heardAt : silentAt;
  return { event: { deviceKey, deviceId, productId, workspaceId, online, at }, changedAt: byNewLimit ? now : at };
}
