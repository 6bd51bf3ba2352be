import { TimeAgo } from '../../parts/time-ago.tsx';
import type { ShownDevice } from './shown-device.ts';

/** The clients that have sent for a device over MQTT: which are connected, and their last topic. */
export function MqttClients({ clients }: { clients: ShownDevice['mqttClients'] }) {
  return clients.map(({ clientId, connected, lastTopic, lastMessageAt }) => (
    <div key={clientId}>
      <span class="dot" data-online={connected} role="img" aria-label={connected ? 'connected' : 'gone'} />{' '}
      <span class="mono">{clientId}</span>: <span class="mono">{lastTopic}</span>, <TimeAgo at={lastMessageAt} />
    </div>
  ));
}
