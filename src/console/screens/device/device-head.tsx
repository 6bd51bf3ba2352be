import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useStore } from '../../api/store.ts';
import { href, navigate } from '../../navigation/place.ts';
import { DeleteDevices } from '../../deleting/delete-devices.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { SendLine } from '../../sending/send-line.tsx';
import { may, workspaceId } from '../../session/session.ts';
import { WorkspaceCrumb } from '../../session/workspace-crumb.tsx';
import { zoneName } from '../../time/local-time.ts';
import { EditDevice } from './edit-device.tsx';
import { ExportMenu } from './export-menu.tsx';
import { MqttClients } from './mqtt-clients.tsx';
import type { FiringAlert, ShownDevice } from './shown-device.ts';
import { WriteValue } from './write-value.tsx';
import { counted } from '../../texts/texts.ts';

interface DeviceHeadProps {
  device: ShownDevice;
  /** Those that fire. */
  alerts: readonly FiringAlert[];
  /** The shown range, for exports. */
  shown: { from: number; to: number };
  onChanged: () => void;
}

/** Name and state of a device, and its actions. */
export function DeviceHead({ device, alerts, shown, onChanged }: DeviceHeadProps) {
  const [sheet, setSheet] = useState<'write' | 'edit' | 'line' | 'delete' | null>(null);
  const workspace = useStore(workspaceId);
  const { id, name, serialNumber, online, lastHeardAt, tags, product, location, plan } = device;
  const close = (): void => setSheet(null);
  return (
    <>
      <div class="page-head">
        <div class="grow">
          <nav class="crumbs" aria-label="Where this is">
            <WorkspaceCrumb />
            <a href={href('/devices')}>Devices</a> / <a href={href(`/products/${product.id}`)}>{product.name}</a>
          </nav>
          <h1>
            <span class="dot" data-online={online} role="img" aria-label={online ? 'online' : 'silent'} /> {name}
          </h1>
        </div>
        {may('RECORD') && product.fields.length > 0 && (
          <button type="button" onClick={() => setSheet('write')}>
            <Icon name="pencil" /> Write a value
          </button>
        )}
        <ExportMenu device={device} shown={shown} timeZone={zoneName()} />
        <Menu label="More" button={<Icon name="more" />} class="boxed">
          <button type="button" onClick={() => setSheet('line')}>
            <Icon name="code" /> Send values
          </button>
          {may('CONFIGURE') && (
            <>
              <button type="button" onClick={() => setSheet('edit')}>
                <Icon name="pencil" /> Change
              </button>
              <button type="button" class="danger" onClick={() => setSheet('delete')}>
                <Icon name="trash" /> Delete
              </button>
            </>
          )}
        </Menu>
      </div>
      <dl class="facts">
        <Fact name="Last heard">
          <TimeAgo at={lastHeardAt} />
        </Fact>
        <Fact name="Serial number">
          <span class="mono">{serialNumber}</span>
        </Fact>
        {location !== null && <Fact name="Location">{location}</Fact>}
        <Fact name="Plan">
          {plan.name}
          {plan.retentionDays !== null && counted(plan.retentionDays, ', {count} day', ', {count} days')}
        </Fact>
        {tags.length > 0 && (
          <Fact name="Tags">
            {tags.map((tag) => (
              <a key={tag} class="chip" href={href('/devices', { tag })}>
                {tag}
              </a>
            ))}
          </Fact>
        )}
        {device.metadata != null && (
          <Fact name="Metadata">
            <code>{JSON.stringify(device.metadata)}</code>
          </Fact>
        )}
        {device.mqttClients.length > 0 && (
          <Fact name="MQTT">
            <MqttClients clients={device.mqttClients} />
          </Fact>
        )}
        <Fact name="Alerts">
          {alerts.length === 0 ? (
            <a class="device-alerts muted" href={href('/alerts', { device: id, state: 'any' })}>
              none fires
            </a>
          ) : (
            alerts.map(({ id: alert, severity, rule }) => (
              <a key={alert} class="chip" data-severity={severity} href={href('/alerts', { device: id, alert })}>
                {rule.name}
              </a>
            ))
          )}
        </Fact>
      </dl>
      {sheet === 'write' && <WriteValue device={device} fields={product.fields} onClose={close} />}
      {sheet === 'edit' && <EditDevice device={device} onClose={close} onSaved={onChanged} />}
      {sheet === 'line' && (
        <Dialog title={`Send values of ${name}`} onClose={close}>
          <SendLine device={device} workspaceId={workspace} fields={product.fields} />
          <div class="actions">
            <button type="button" onClick={close}>
              Done
            </button>
          </div>
        </Dialog>
      )}
      {sheet === 'delete' && (
        <DeleteDevices
          devices={[device]}
          onClose={close}
          onDone={() => navigate(href('/devices'), { replace: true })}
        />
      )}
    </>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
