import type { EventBody, EventData } from './event-data.ts';

const MAX_SUBJECT = 200;
/** Maximum alerts listed in a mail. */
const MAX_LISTED = 50;
const STATES: Readonly<Record<string, string>> = {
  'alert.fired': 'fires',
  'alert.updated': 'changed',
  'alert.resolved': 'is over',
};

/** Subject and plain text of the mail for an event; the subject says device, rule and state. */
export function mailOf(body: string): { subject: string; text: string } {
  const event = JSON.parse(body) as EventBody;
  const subject = `${event.data.test === true ? '[Test] ' : ''}${subjectOf(event)}`;
  return { subject: oneLine(subject).slice(0, MAX_SUBJECT), text: `${linesOf(event).join('\n')}\n` };
}

function subjectOf({ type, data }: EventBody): string {
  const { device, product, rule, alert, alerts, count, identifier, call } = data;
  if (rule !== undefined) {
    const severity = alert?.severity ?? alerts?.[0]?.alert.severity ?? '';
    const who = alerts === undefined ? device?.name : `${count ?? alerts.length} devices of ${product?.name}`;
    return `${who}: ${rule.name} ${STATES[type] ?? type} (${severity})`;
  }
  if (type === 'device.unknown') return `Unknown device ${identifier}`;
  if (type === 'call.failed') return `${product?.name}: a call failed (${call?.error})`;
  return `${device?.name}: ${type === 'device.online' ? 'heard again' : 'silent'}`;
}

function linesOf({ type, timestamp, data }: EventBody): string[] {
  const { device, product, rule, alert, alerts = [], count = 0, reason, lastHeardAt, identifier, call, url } = data;
  const facts: [string, string | null | undefined][] = [
    ['Event', type],
    ['Time', timestamp],
    ['Product', product?.name],
    ['Device', device && `${device.name} (${device.serialNumber})`],
    ['Rule', rule?.name],
    ['State', alert && `${alert.state} (${alert.severity})`],
    ['Since', alert?.startedAt],
    ['Until', alert?.endedAt],
    ['Values', valuesOf(data)],
    ['Reason', reason],
    ['Last heard', lastHeardAt],
    ['Identifier', identifier],
    ['Call', call && `${call.receivedAt}: ${call.error} ${call.message ?? ''}`],
    ['See', url],
  ];
  const listed = alerts
    .slice(0, MAX_LISTED)
    .map((each) => `- ${each.device?.name}: ${each.alert.state} (${each.alert.severity}) ${valuesOf(each) ?? ''}`);
  if (count > listed.length && listed.length > 0) listed.push(`- and ${count - listed.length} more`);
  return [
    ...facts.flatMap(([name, value]) => (value == null ? [] : [`${name}: ${oneLine(value)}`])),
    ...listed.map(oneLine),
  ];
}

function valuesOf({ values }: Pick<EventData, 'values'>): string | undefined {
  if (typeof values !== 'object' || values === null) return undefined;
  const each = Object.entries(values).map(([field, value]) => `${field} ${String(value)}`);
  return each.length === 0 ? undefined : each.join(', ');
}

/** Names are free text of users: without line breaks and other control characters. */
function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- Control characters are what it replaces.
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
}
