import type { AlertData, EventBody, EventData, Named } from './event-data.ts';

/** Where the v2 API of Alertmanager takes alerts. */
const PATH = '/api/v2/alerts';

/** An alert as Alertmanager takes it; without `endsAt` it fires until it was not repeated for a while. */
export interface ManagedAlert {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  startsAt: string;
  endsAt?: string;
  generatorURL?: string;
}

/** The URL to post alerts to, for the address of an Alertmanager. */
export function alertsUrl(address: string): string {
  const url = new URL(address);
  let end = url.pathname.length;
  while (url.pathname[end - 1] === '/') end -= 1;
  if (!url.pathname.endsWith(PATH)) url.pathname = url.pathname.slice(0, end) + PATH;
  return url.href;
}

/** The alerts of an event, by their ids; those without `endsAt` fire. `now`: ms UTC. */
export function managedAlerts(body: string, now: number): Map<string, ManagedAlert> {
  const { data } = JSON.parse(body) as EventBody;
  const { alert, alerts, device, values, reason } = data;
  const each = alerts ?? (alert === undefined ? [] : [{ alert, device, values, reason }]);
  return new Map(each.map((one) => [one.alert.id, managedAlert(data, one, now)]));
}

/** The same alert, as it was told of before it ended. */
export function asFiring({ labels, annotations, startsAt, generatorURL }: ManagedAlert): ManagedAlert {
  return { labels, annotations, startsAt, ...(generatorURL === undefined ? {} : { generatorURL }) };
}

/** The same alert, over at `now` (ms UTC). */
export function ended(alert: ManagedAlert, now: number): ManagedAlert {
  return { ...alert, endsAt: new Date(Math.max(now, Date.parse(alert.startsAt) + 1)).toISOString() };
}

/**
 * Labels tell alerts apart and group them: they are those of rule and device, whatever changes of the alert. What may
 * change is in the annotations.
 */
function managedAlert(
  { rule, product, url, test }: EventData,
  { alert, device, values, reason }: { alert: AlertData; device?: Named; values?: unknown; reason?: string | null },
  now: number,
): ManagedAlert {
  const managed: ManagedAlert = {
    labels: {
      alertname: rule?.name ?? 'Inlet',
      ...given('rule', rule?.key ?? rule?.id),
      ...given('product', product?.key ?? product?.name),
      ...given('device', device?.serialNumber),
      ...given('device_id', device?.id),
      ...(test === true ? { test: 'true' } : {}),
    },
    annotations: {
      summary: `${device?.name}: ${rule?.name}`,
      severity: alert.severity.toLowerCase(),
      alert_id: alert.id,
      ...(values == null ? {} : { values: JSON.stringify(values) }),
      ...given('reason', reason),
    },
    startsAt: alert.startedAt,
    ...(url === undefined ? {} : { generatorURL: url }),
  };
  const isOver = alert.state === 'RESOLVED' || alert.endedAt != null || test === true;
  return isOver ? ended(managed, alert.endedAt == null ? now : Date.parse(alert.endedAt)) : managed;
}

function given(name: string, value: string | null | undefined): Record<string, string> {
  return value == null || value === '' ? {} : { [name]: value };
}
