import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import mqtt from 'mqtt';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { hasMosquittoClients, hasPaho, PYTHON } from '../support/has-foreign-clients.ts';
import { type MqttTestServer, startMqttServer } from '../support/mqtt-door.ts';

const run = promisify(execFile);
const describeWithForeignClients = hasMosquittoClients() && hasPaho() ? describe : describe.skip;
const FROM = Date.UTC(2026, 0, 1) / 1_000;
const entry = (n: number): string => JSON.stringify({ field: 'N', value: n, timestamp: FROM + n });

/** Publishes each message with QoS 1, or 2, and waits for its acknowledgement. */
const PAHO = `
import sys
import paho.mqtt.client as mqtt
port, password, topic, version = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
client = mqtt.Client(client_id="paho-%d" % version, protocol=version)
client.username_pw_set("x", password)
codes = []
client.on_connect = lambda *given: codes.append(int(getattr(given[3], "value", given[3])))
client.connect("127.0.0.1", port)
client.loop_start()
for qos, payload in enumerate(sys.argv[5:], 1):
    message = client.publish(topic, payload, qos=qos)
    message.wait_for_publish(10)
    assert message.is_published()
client.disconnect()
client.loop_stop()
print(codes)
`;

/** Words that have no blank. */
const mosquittoPub = (words: string) => run('mosquitto_pub', words.split(' '));

let door: MqttTestServer;
let folder: string;
const files = (): { certFile: string; keyFile: string } => ({
  certFile: join(folder, 'cert.pem'),
  keyFile: join(folder, 'key.pem'),
});

async function writeCertificate(name: string): Promise<void> {
  const [cert, key] = [join(folder, 'new-cert.pem'), join(folder, 'new-key.pem')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const names = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  await run('openssl', ['req', '-x509', ...kind, ...names, '-keyout', key, '-out', cert]);
  renameSync(key, files().keyFile);
  renameSync(cert, files().certFile);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'inlet-mqtt-tls-'));
  await writeCertificate('first');
  const { certFile, keyFile } = files();
  const env = { MQTT_TLS_PORT: '0', MQTT_TLS_CERT_FILE: certFile, MQTT_TLS_KEY_FILE: keyFile };
  door = await startMqttServer('sqlite', { env });
});
afterAll(async () => {
  await door.stop();
  rmSync(folder, { recursive: true, force: true });
});

describeWithForeignClients('clients of others', () => {
  test.each(['mqttv311', 'mqttv5'])('mosquitto_pub with %s: each quality of service', async (version) => {
    const { id, serialNumber } = await door.addDevice();
    for (const qos of [0, 1, 2])
      await mosquittoPub(
        `-h 127.0.0.1 -p ${door.port} -u x -P ${door.server.adminToken} -V ${version} -q ${qos} -t v1/${serialNumber}/record -m ${entry(qos)}`,
      );
    await eventually(async () => expect(await door.stored(id)).toEqual([0, 1, 2]));
  });

  test('mosquitto_pub over TLS, and lines of its input', async () => {
    const { id, serialNumber } = await door.addDevice();
    const sent = mosquittoPub(
      `-h localhost -p ${door.tlsPort} --cafile ${files().certFile} -u ${door.server.adminToken} -V mqttv5 -q 1 -t v1/${serialNumber}/record -l`,
    );
    sent.child.stdin?.end([0, 1, 2, 3].map((n) => `${entry(n)}\n`).join(''));
    await sent;
    expect(await door.stored(id)).toEqual([0, 1, 2, 3]);
  });

  test.each([
    ['3.1.1', 4],
    ['5', 5],
  ])('paho with MQTT %s', async (_, version) => {
    const { id, serialNumber } = await door.addDevice();
    const topic = `v1/${serialNumber}/record`;
    const given = [String(door.port), door.server.adminToken, topic, String(version), entry(1), entry(2)];
    const { stdout } = await run(PYTHON, ['-c', PAHO, ...given]);
    expect(stdout.trim()).toBe('[0]');
    expect(await door.stored(id)).toEqual([1, 2]);
  });
});

describe('TLS', () => {
  /** The name in the certificate that a new connection gets. */
  const nameShown = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connectTls({ port: door.tlsPort!, host: '127.0.0.1', rejectUnauthorized: false }, () => {
        resolve(String(socket.getPeerCertificate().subject.CN));
        socket.destroy();
      });
      socket.on('error', reject);
    });

  test('takes clients with TLS, reads a certificate that has changed, and those that are connected stay', async () => {
    const { id, serialNumber } = await door.addDevice();
    const options = { protocol: 'mqtts' as const, port: door.tlsPort!, host: 'localhost', reconnectPeriod: 0 };
    const [username, password] = ['x', door.server.adminToken];
    const client = await mqtt.connectAsync({ ...options, username, password, ca: readFileSync(files().certFile) });
    await client.publishAsync(`v1/${serialNumber}/record`, entry(1), { qos: 1 });
    expect(await nameShown()).toBe('first');
    await writeCertificate('second');
    await eventually(async () => expect(await nameShown()).toBe('second'));
    await client.publishAsync(`v1/${serialNumber}/record`, entry(2), { qos: 1 });
    expect(await door.stored(id)).toEqual([1, 2]);
    await client.endAsync();
  });
});
