import type { AlertParts } from '../../alerts/alerts.graphql.ts';
import type { AlertState, Severity } from '../../api/schema-types.ts';
import { timeOf } from '../../time/local-time.ts';
import { t } from '../../texts/texts.ts';

/** States of an alert in words. */
export const STATES: Record<AlertState, string> = {
  FIRING: t('Firing'),
  RECOVERING: t('Recovering'),
  PENDING: t('Pending'),
  RESOLVED: t('Over'),
};

const STATE_NAMES = Object.keys(STATES) as AlertState[];
const SEVERITY_NAMES: readonly Severity[] = ['INFO', 'WARNING', 'CRITICAL'];

/** The states shown where the address names none. */
const OPEN: readonly AlertState[] = ['FIRING', 'RECOVERING'];
/** All states, in the address. */
const ANY = 'any';

/** The filter of the list of alerts, as the address holds it. */
export interface AlertFilter {
  /** Empty: any. */
  states: readonly AlertState[];
  /** Empty: any. */
  severities: readonly Severity[];
  productId: string | null;
  deviceId: string | null;
  /** Those on at some time in between, in milliseconds. */
  from: number | null;
  to: number | null;
}

/** The filter in the address; unreadable parts do not narrow. Without states those that are not over. */
export function readFilter(query: URLSearchParams): AlertFilter {
  const states = query.get('state');
  const severities = (query.get('severity') ?? '').split(',');
  return {
    states: states === null ? OPEN : STATE_NAMES.filter((state) => states.split(',').includes(state)),
    severities: SEVERITY_NAMES.filter((severity) => severities.includes(severity)),
    productId: query.get('product'),
    deviceId: query.get('device'),
    from: timeOf(query.get('from')),
    to: timeOf(query.get('to')),
  };
}

/** The states as the address names them. */
export function stateParameter(states: readonly AlertState[]): string {
  return states.length === 0 ? ANY : states.join(',');
}

/** True when a live alert is one of those that the API would list. */
export function passes(filter: AlertFilter, alert: AlertParts): boolean {
  const { states, severities, productId, deviceId, from, to } = filter;
  const [begin, end] = [Date.parse(alert.startedAt), alert.endedAt === null ? Infinity : Date.parse(alert.endedAt)];
  return (
    (states.length === 0 || states.includes(alert.state)) &&
    (severities.length === 0 || severities.includes(alert.severity)) &&
    (productId === null || alert.rule.product.id === productId) &&
    (deviceId === null || alert.device.id === deviceId) &&
    (from === null || end >= from) &&
    (to === null || begin < to)
  );
}
