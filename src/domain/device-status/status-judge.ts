import { isOverdue, limitOf, type PlaceRow, type StatusEvent, type Watched } from './status-rows.ts';
import type { WatchedDevices } from './watched-devices.ts';

/** A device's status is another one since `changedAt`. */
export type Turned = [device: Watched, event: StatusEvent, changedAt: number];

interface StatusJudgeDeps {
  watched: WatchedDevices;
  now: () => number;
  tell: (...turned: Turned) => void;
}

/** Says of watched devices, by what was read of them, whether their status has changed. */
export class StatusJudge {
  readonly #deps: StatusJudgeDeps;

  constructor(deps: StatusJudgeDeps) {
    this.#deps = deps;
  }

  /** Tells when the device's status is another than it was, also now that its limit has changed. */
  judge(device: Watched, limitChanged = false): void {
    const { watched, now, tell } = this.#deps;
    // It was deleted while it was asked.
    if (watched.get(device.deviceKey) !== device) return;
    const time = now();
    const online = !isOverdue(device, time);
    if (online === device.online) return;
    device.online = online;
    const event = eventOf(device, time);
    tell(device, event, limitChanged ? time : event.at);
  }

  /**
   * What was read of a device, in that reading. Only changes are told: it begins with what it was at `since`, one that was
   * just made (null) as never heard.
   */
  take(
    { ownSeconds, productSeconds, ...place }: PlaceRow,
    heard: number | undefined,
    { since, reading }: { since: number | null; reading: number },
  ): void {
    const { watched } = this.#deps;
    const known = watched.get(place.deviceKey);
    const limitMs = limitOf(ownSeconds ?? productSeconds);
    const heardAt = Math.max(known?.heardAt ?? -Infinity, heard ?? -Infinity);
    const online = known?.online ?? (since !== null && heardAt + limitMs >= since);
    const limitChanged = known !== undefined && known.limitMs !== limitMs;
    // One that is known stays the same object: it may be among those that are to be asked.
    const device = Object.assign(known ?? {}, place, {
      limitMs,
      hasOwnLimit: ownSeconds !== null,
      heardAt,
      online,
      reading,
    });
    if (known === undefined && !watched.add(device)) {
      // It was just made: nobody else's changes are left out for it.
      if (since === null) return;
      throw watched.tooMany();
    }
    this.judge(device, limitChanged);
  }
}

function eventOf({ heardAt, limitMs, ...device }: Watched, now: number): StatusEvent {
  const { deviceKey, deviceId, productId, workspaceId, online } = device;
  const at = online ? heardAt : Number.isFinite(heardAt) ? Math.min(heardAt + limitMs, now) : now;
  return { deviceKey, deviceId, productId, workspaceId, online, at };
}
