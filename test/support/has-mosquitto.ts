import { existsSync } from 'node:fs';

/** Debian puts it where only root looks. */
const PLACES = ['/usr/sbin/mosquitto', '/usr/local/sbin/mosquitto', '/usr/bin/mosquitto', '/usr/local/bin/mosquitto'];

/** Path of the broker, or null. */
export function findMosquitto(): string | null {
  return PLACES.find((path) => existsSync(path)) ?? null;
}
