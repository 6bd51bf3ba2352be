import { WEBHOOK_TOPIC } from '../domain/decoders/decoder-request.ts';

/** Shapes of other platforms that are taken beside the topics of the contract (CONTRACT 14). */
export interface OtherShapes {
  /** MQTT_DATACAKE: `dtck-pub/<slug>/<device>/<FIELD>`. */
  datacake: boolean;
  /** MQTT_THINGSBOARD: `v1/devices/me/telemetry` and `v1/gateway/telemetry`. */
  thingsboard: boolean;
}

/** Meaning of the messages of a topic. */
type TopicMeaning =
  /** The body of the record endpoint. */
  | { kind: 'record'; device: string }
  /** One value, or one entry as JSON. */
  | { kind: 'field'; device: string; field: string }
  /** A call of a product's webhook. */
  | { kind: 'webhook'; id: string }
  /** ThingsBoard's telemetry of the token's device, and of the devices behind a gateway. */
  | { kind: 'telemetry' }
  | { kind: 'gateway' };

/** Maximum characters of a topic. */
export const MAX_TOPIC = 1_024;
const OWN = 'v1/';
const DATACAKE = 'dtck-pub/';

/** Meaning of a topic; null: none, so that nobody may publish to it. A slash at the end is ignored, as in URLs. */
export function meaningOf(topic: string, { datacake, thingsboard }: OtherShapes): TopicMeaning | null {
  if (topic.startsWith(OWN)) {
    if (thingsboard && topic.startsWith('v1/devices/me/telemetry')) return onlyIf(topic, 'v1/devices/me/telemetry');
    if (thingsboard && topic.startsWith('v1/gateway/telemetry')) return onlyIf(topic, 'v1/gateway/telemetry');
    const [device, last] = lastTwo(topic, OWN.length);
    if (device === null) return null;
    return last === 'record' ? { kind: 'record', device } : { kind: 'field', device, field: last };
  }
  if (topic.startsWith(WEBHOOK_TOPIC)) {
    const end = topic.indexOf('/', WEBHOOK_TOPIC.length);
    return { kind: 'webhook', id: topic.slice(WEBHOOK_TOPIC.length, end < 0 ? undefined : end) };
  }
  if (!datacake || !topic.startsWith(DATACAKE)) return null;
  const slugEnd = topic.indexOf('/', DATACAKE.length);
  const [device, field] = slugEnd < 0 ? [null, ''] : lastTwo(topic, slugEnd + 1);
  return device === null ? null : { kind: 'field', device, field };
}

/** Topic that tells the outcomes of what was sent for a device. */
export function outcomeTopic(device: string): string {
  return `${OWN}${encodedName(device)}/outcome`;
}

/** The device of `v1/<device>/outcome`, without wildcards; null: it is another topic, or a longer one than any. */
export function deviceOfOutcome(topic: string): string | null {
  if (topic.length > MAX_TOPIC || !topic.startsWith(OWN) || /[+#]/.test(topic)) return null;
  const [device, last] = lastTwo(topic, OWN.length);
  return last === 'outcome' ? device : null;
}

function onlyIf(topic: string, whole: string): TopicMeaning | null {
  if (topic !== whole && topic !== `${whole}/`) return null;
  return whole === 'v1/gateway/telemetry' ? { kind: 'gateway' } : { kind: 'telemetry' };
}

/** The two levels behind `from`, the first one decoded as in a URL; [null, '']: there are more, fewer, or empty ones. */
function lastTwo(topic: string, from: number): [device: string, last: string] | [device: null, last: ''] {
  const end = topic.endsWith('/') ? topic.length - 1 : topic.length;
  const slash = topic.indexOf('/', from);
  if (slash <= from || slash + 1 >= end || topic.lastIndexOf('/', end - 1) !== slash) return [null, ''];
  return [decodedName(topic.slice(from, slash)), topic.slice(slash + 1, end)];
}

/** A name with `/`, `+`, `#` or `%` is percent-encoded in a topic; what is no valid encoding is the name itself. */
function decodedName(name: string): string {
  if (!name.includes('%')) return name;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function encodedName(name: string): string {
  return name.replaceAll(/[/+#%]/g, (character) => encodeURIComponent(character));
}
