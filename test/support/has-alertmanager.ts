import { spawnSync } from 'node:child_process';

/** Debian's name of the program. */
export const ALERTMANAGER = 'prometheus-alertmanager';

/** Whether Debian's Alertmanager is there. */
export function hasAlertmanager(): boolean {
  return spawnSync(ALERTMANAGER, ['--version']).status === 0;
}
