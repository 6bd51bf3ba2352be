import { NameIndex } from '../text/name-index.ts';
import { must } from '../../must.ts';

/** Roles of a column or key other than a field. */
export type Role = 'device' | 'timestamp' | 'field' | 'value';

/** Roles in the order in which a message names them. */
const ROLES: readonly Role[] = ['timestamp', 'device', 'field', 'value'];

/** Names of the roles in other programs. */
const ALIASES: Record<Role, readonly string[]> = {
  timestamp:
    'time date datetime date_time ts at _time utc epoch unixtime last_changed last_updated start recorded_at received_at created_at measured_at zeit zeitstempel datum'.split(
      ' ',
    ),
  device:
    'entity_id statistic_id device_id deviceid device_name serial serial_number serialnumber sensor sensor_id host dev_eui deveui eui seriennummer'.split(
      ' ',
    ),
  field: '_field metric measurement key channel identifier variable'.split(' '),
  value: 'state mean _value val reading wert messwert'.split(' '),
};
/** Part of a name that may be the time's. */
const TIME = /time|date/i;
/** Maximum names in a message. */
const MOST_NAMED = 20;

/** The names as they were read, for a message. */
export function listed(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? `, … (${names.length} in all)` : '';
  return names.slice(0, MOST_NAMED).map(quoted).join(', ') + more;
}

/** A name for a message: short, and well-formed. */
export function quoted(name: string): string {
  return `"${(name.length > 40 ? `${name.slice(0, 40)}…` : name).toWellFormed()}"`;
}

/** A sentence with the names that probably stand for the missing roles; '' without any. */
export function probablyMeant(names: readonly string[]): string {
  const meant = ROLES.map((role) => [role, meantFor(role, names)] as const)
    .filter(([, name]) => name !== null)
    .map(([role, name]) => `${quoted(must(name))} ${role}`);
  return meant.length === 0 ? '' : `Probably meant: ${meant.join(', ')}; rename them. `;
}

function meantFor(role: Role, names: readonly string[]): string | null {
  if (names.some((name) => name.toLowerCase() === role)) return null;
  const known = names.find((name) => ALIASES[role].includes(name.toLowerCase())) ?? new NameIndex(names).nearest(role);
  if (known !== null) return known;
  return role === 'timestamp' ? (names.find((name) => TIME.test(name)) ?? null) : null;
}
