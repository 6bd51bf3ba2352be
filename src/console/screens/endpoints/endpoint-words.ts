import type { DeliveryStatus, EndpointKind } from '../../api/schema-types.ts';
import type { EndpointParts } from './endpoints.graphql.ts';

/** Kinds of endpoints in words. */
export const KINDS: Record<EndpointKind, string> = {
  WEBHOOK: 'Webhook',
  EMAIL: 'Mail',
  ALERTMANAGER: 'Alertmanager',
};

/** Events in words, in the order of a form. */
const EVENTS: readonly (readonly [event: string, text: string])[] = [
  ['alert.fired', 'An alert fires'],
  ['alert.updated', 'An alert changes its level'],
  ['alert.resolved', 'An alert is over'],
  ['device.offline', 'A device goes silent'],
  ['device.online', 'A device is heard again'],
  ['device.unknown', 'An unknown device sends'],
  ['call.failed', 'A call fails in the decoder'],
  ['measurements.recorded', 'Values are recorded, every one of them'],
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
  if (events.length === 0) return 'what rules that name it tell';
  return EVENTS.filter(([event]) => events.includes(event))
    .map(([event]) => event)
    .join(', ');
}

/** The state of an endpoint: `on`, `off`, `failing` or `stopped` by the server, in words. */
export function stateOf({ enabled, disabledReason, failingSince }: EndpointParts): [state: string, text: string] {
  if (!enabled) return disabledReason === null ? ['off', 'Off'] : ['stopped', 'Switched off'];
  return failingSince === null ? ['on', 'On'] : ['failing', 'Failing'];
}

/** States of deliveries in words. */
export const DELIVERY_STATES: Record<DeliveryStatus, string> = {
  WAITING: 'Waiting',
  DELIVERED: 'Delivered',
  DEAD: 'Given up',
};
