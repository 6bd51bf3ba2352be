import { spawnSync } from 'node:child_process';

/** Debian's, which has Debian's modules. */
export const PYTHON = '/usr/bin/python3';

/** Whether Debian's `mosquitto_pub` is there. */
export function hasMosquittoClients(): boolean {
  return spawnSync('mosquitto_pub', ['--help']).error === undefined;
}

/** Whether Debian's paho is there. */
export function hasPaho(): boolean {
  return spawnSync(PYTHON, ['-c', 'import paho.mqtt']).status === 0;
}
