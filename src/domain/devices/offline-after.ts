import { badInput } from '../../errors.ts';

/** Default without `offlineAfterSeconds` of the device or its product: 40 minutes. */
export const DEFAULT_OFFLINE_AFTER_SECONDS = 2400;

/** How long a device may be silent and counts as online, in ms; null: the default. */
export function limitOf(offlineAfterSeconds: number | null): number {
  return (offlineAfterSeconds ?? DEFAULT_OFFLINE_AFTER_SECONDS) * 1000;
}

const MAX_SECONDS = 2_147_483_647;

/** Seconds of silence after which a device is not online; null: the wider setting. BAD_USER_INPUT naming `path`. */
export function checkOfflineAfter(seconds: number | null | undefined, path: string): number | null {
  if (seconds == null) return null;
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > MAX_SECONDS)
    throw badInput(`${path}: expected a whole number of seconds from 1 to ${MAX_SECONDS}, or null for the default.`);
  return seconds;
}
