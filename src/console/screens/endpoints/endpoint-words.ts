import type { DeliveryStatus, EndpointKind } from '../../api/schema-types.ts';
import type { EndpointParts } from './endpoints.graphql.ts';
import { t } from '../../texts/texts.ts';

/** Kinds of endpoints in words. */
export const KINDS: Record<EndpointKind, string> = {
  WEBHOOK: 'Webhook',
  EMAIL: t('Mail'),
  ALERTMANAGER: 'Alertmanager',
};

/** Events in words, in the order of a form. */
const EVENTS: readonly (readonly [event: string, text: string])[] = [
  ['alert.fired', t('An alert fires')],
  ['alert.updated', t('An alert changes its level')],
  ['alert.resolved', t('An alert is over')],
  ['device.offline', t('A device goes silent')],
  ['device.online', t('A device is heard again')],
  ['device.unknown', t('An unknown device sends')],
  ['call.failed', t('A call fails in the decoder')],
  ['measurements.recorded', t('Values are recorded, every one of them')],
];

/** The events that endpoints of a kind take. */
export function eventsOf(kind: EndpointKind): typeof EVENTS {
  if (kind === 'WEBHOOK') return EVENTS;
  return EVENTS.filter(([event]) =>
    kind === 'ALERTMANAGER' ? event.startsWith('alert.') : event !== 'measurements.recorded',
  );
}

/** The events that an endpoint wants, in words. */
export function eventWords(events: readonly string[]): string {
  if (events.length === 0) return t('what rules that name it tell');
  return EVENTS.filter(([event]) => events.includes(event))
    .map(([event]) => event)
    .join(', ');
}

/** The state of an endpoint: `on`, `off`, `failing` or `stopped` by the server, in words. */
export function stateOf({ enabled, disabledReason, failingSince }: EndpointParts): [state: string, text: string] {
  if (!enabled) return disabledReason === null ? ['off', t('Off')] : ['stopped', t('Switched off')];
  return failingSince === null ? ['on', t('On')] : ['failing', t('Failing')];
}

/** States of deliveries in words. */
export const DELIVERY_STATES: Record<DeliveryStatus, string> = {
  WAITING: t('Waiting'),
  DELIVERED: t('Delivered'),
  DEAD: t('Given up'),
};
