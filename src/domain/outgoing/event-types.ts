/** Every event that endpoints can want (CONTRACT 13), and what it says. */
const EVENTS = {
  'alert.fired': 'A rule fired for a device.',
  'alert.updated': 'The level of an alert changed, or it was acknowledged or snoozed.',
  'alert.resolved': 'An alert ended.',
  'device.offline': 'A device has been silent for longer than it may.',
  'device.online': 'A device that was silent is heard again.',
  'device.unknown': 'A network or webhook named a device that there is not, for the first time.',
  'call.failed': 'A logged call could not be decoded.',
  'measurements.recorded': 'Values were recorded.',
} as const;

/** The type of an event. */
export type EventType = keyof typeof EVENTS;

/** The types in the order of the contract. */
export const EVENT_TYPES = Object.keys(EVENTS) as EventType[];

/** True for events of alerts, which rules send to endpoints that they name. */
export function isAlertEvent(type: string): boolean {
  return type.startsWith('alert.');
}
