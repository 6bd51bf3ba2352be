import { hostname } from 'node:os';

/** Settings of MQTT (CONTRACT 14). Comments are rows in docs/operating.md, as those of `Config`. */
export interface MqttSettings {
  readonly shapes: {
    /** `MQTT_DATACAKE` (`off`): Whether topics as Datacake has them are taken, `dtck-pub/<slug>/<device>/<FIELD>`: `on` or `off`. */
    readonly datacake: boolean;
    /**
     * `MQTT_THINGSBOARD` (`off`): Whether ThingsBoard's telemetry is taken, `v1/devices/me/telemetry` and
     * `v1/gateway/telemetry`: `on` or `off`.
     */
    readonly thingsboard: boolean;
  };
  readonly source: BrokerSettings | null;
  /** `MQTT_PORT` (none): A port on which devices speak MQTT 3.1.1 and 5; 0 picks a free one, printed in the log line `MQTT: listening`. */
  readonly port: number | null;
  readonly tls: MqttTlsSettings | null;
}

/** Where devices speak MQTT over TLS. */
interface MqttTlsSettings {
  /** `MQTT_TLS_PORT` (none): The same over TLS, needs the certificate and its key. */
  readonly port: number;
  /** `MQTT_TLS_CERT_FILE` (none): The certificate with those that lead to its root (PEM); read again when it changes. */
  readonly certFile: string;
  /** `MQTT_TLS_KEY_FILE` (none): Its private key (PEM); read again when it changes. */
  readonly keyFile: string;
}

/** The broker whose messages the server takes, and what it may do with them. */
export interface BrokerSettings {
  /** `MQTT_SOURCE_URL` (none): A broker whose messages are taken, such as `mqtt://user:password@broker.example.org:1883`; `mqtts:` for TLS. */
  readonly url: string;
  /** `MQTT_SOURCE_TOKEN` (none): The token whose rights its messages have; needed with `MQTT_SOURCE_URL`. */
  readonly token: string;
  /**
   * `MQTT_SOURCE_TOPICS` (`v1/+/+`): The topics that are subscribed to, separated by commas, with wildcards and `$share/…`.
   * With `REDIS_URL` nodes share each of them.
   */
  readonly topics: readonly string[];
  /** `MQTT_SOURCE_WEBHOOK` (none): The id of the webhook that gets the messages of all topics that have no meaning of their own. */
  readonly webhookId: string | null;
  /** `MQTT_SOURCE_RETAINED` (`off`): Whether copies that the broker has retained are taken as well: `on` or `off`. */
  readonly retained: boolean;
  /** `MQTT_SOURCE_CLIENT_ID` (inlet- and the host's name): The client id; the broker keeps messages for it while the server is away. */
  readonly clientId: string;
}

/** Reads a setting each: see `readConfig`. */
interface Read {
  text: (name: string) => string | null;
  /** A whole number from `min` to `max`. */
  whole: (name: string, fallback: number, min: number, max: number) => number;
  choice: <Choice extends string>(name: string, choices: readonly [Choice, ...Choice[]]) => Choice;
  isUrl: (value: string, protocols: string[]) => boolean;
  mistakes: string[];
}

/** Reads the settings of MQTT; adds what is wrong to `mistakes`. */
export function readMqttSettings(read: Read): MqttSettings {
  const isOn = (name: string): boolean => read.choice(name, ['off', 'on']) === 'on';
  const shapes = { datacake: isOn('MQTT_DATACAKE'), thingsboard: isOn('MQTT_THINGSBOARD') };
  const port = read.text('MQTT_PORT') === null ? null : read.whole('MQTT_PORT', 0, 0, 65_535);
  return { shapes, source: readSource(read, isOn('MQTT_SOURCE_RETAINED')), port, tls: readTls(read) };
}

function readTls({ text, whole, mistakes }: Read): MqttTlsSettings | null {
  const port = text('MQTT_TLS_PORT') === null ? null : whole('MQTT_TLS_PORT', 0, 0, 65_535);
  const [certFile, keyFile] = [text('MQTT_TLS_CERT_FILE'), text('MQTT_TLS_KEY_FILE')];
  if (port === null) return null;
  if (certFile === null)
    mistakes.push('MQTT_TLS_CERT_FILE: needed with MQTT_TLS_PORT: the file of a certificate (PEM).');
  if (keyFile === null)
    mistakes.push('MQTT_TLS_KEY_FILE: needed with MQTT_TLS_PORT: the file of its private key (PEM).');
  return certFile === null || keyFile === null ? null : { port, certFile, keyFile };
}

function readSource({ text, isUrl, mistakes }: Read, retained: boolean): BrokerSettings | null {
  const [url, token, webhookId] = [text('MQTT_SOURCE_URL'), text('MQTT_SOURCE_TOKEN'), text('MQTT_SOURCE_WEBHOOK')];
  const topics = readTopics(text('MQTT_SOURCE_TOPICS') ?? 'v1/+/+', mistakes);
  const clientId = text('MQTT_SOURCE_CLIENT_ID') ?? `inlet-${hostname()}`;
  // Values may hold a password: name the settings only.
  if (url !== null && !isUrl(url, ['mqtt:', 'mqtts:', 'ws:', 'wss:']))
    mistakes.push('MQTT_SOURCE_URL: expected a URL such as mqtt://user:password@broker.example.org:1883.');
  if (url !== null && token === null)
    mistakes.push('MQTT_SOURCE_TOKEN: needed with MQTT_SOURCE_URL: a token with scope RECORD, whose rights hold.');
  if (webhookId !== null && !/^[A-Za-z0-9_-]{16,64}$/.test(webhookId))
    mistakes.push(
      'MQTT_SOURCE_WEBHOOK: expected the id in a webhook URL, 16 to 64 characters (its value is not shown).',
    );
  return url === null || token === null ? null : { url, token, topics, webhookId, retained, clientId };
}

function readTopics(value: string, mistakes: string[]): string[] {
  const topics = value.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
  for (const topic of topics)
    if (topic.length > 1_000 || !isFilter(topic.replace(/^\$share\/[^/+#]+\//, '')))
      mistakes.push(
        `MQTT_SOURCE_TOPICS: "${topic.slice(0, 60)}": expected a filter such as tele/+/SENSOR: + for a level, # for all further ones.`,
      );
  return topics;
}

function isFilter(filter: string): boolean {
  const levels = filter.split('/');
  return (
    filter !== '' &&
    levels.every((level, at) => level === '+' || (level === '#' && at === levels.length - 1) || !/[+#\0]/.test(level))
  );
}
