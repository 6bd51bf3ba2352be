import { useEffect, useRef } from 'preact/hooks';
import { useStore } from '../../api/store.ts';
import { useLive } from '../../api/use-live.ts';
import { useQuery } from '../../api/use-query.ts';
import { href } from '../../navigation/place.ts';
import { Note } from '../../parts/note.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { valueText } from '../../parts/value-text.ts';
import { SendLine } from '../../sending/send-line.tsx';
import { workspaceId } from '../../session/session.ts';
import { NetworkLinks } from './network-links.tsx';
import { StartedDevice, StartedValues } from './start.graphql.ts';

/** Characters from which a text is written smaller. */
const LONG = 24;

interface FirstValueProps {
  deviceId: string;
  /** True for a device just created: its token is made without asking. */
  isNew: boolean;
}

/** The line to run, and the value it sends once that has arrived. */
export function FirstValue({ deviceId, isNew }: FirstValueProps) {
  const workspace = useStore(workspaceId);
  const { data, error, change, refetch } = useQuery(StartedDevice, { id: deviceId });
  useLive(
    StartedValues,
    { deviceIds: [deviceId] },
    {
      cursorOf: ({ measurementsRecorded }) => measurementsRecorded.cursor,
      missed: () => void refetch(),
      next: ({ measurementsRecorded: { measurements } }) =>
        change(({ device }) => {
          const changed = new Set(measurements.map(({ field }) => field.identifier));
          const others = device.latest.filter(({ field }) => !changed.has(field.identifier));
          return { device: { ...device, latest: [...others, ...measurements] } };
        }),
    },
  );
  const title = useRef<HTMLHeadingElement>(null);
  const isKnown = data !== null;
  useEffect(() => {
    // Take the focus that the removed form had.
    if (isNew && isKnown) title.current!.focus();
  }, [isNew, isKnown]);
  if (error !== null) return <Note kind="error">{error.message}</Note>;
  if (data === null) return <div class="card padded waiting" />;
  const { device } = data;
  const { fields } = device.product;
  const found = fields.flatMap(({ identifier }) =>
    device.latest.filter(({ field }) => field.identifier === identifier),
  );
  return (
    <>
      <section class="card padded stack" aria-label="Send a value">
        <h2 ref={title} tabIndex={-1}>
          Run this line in a terminal
        </h2>
        <SendLine device={device} workspaceId={workspace} fields={fields} atOnce={isNew} />
      </section>
      <section class="card padded stack" aria-label="Values" aria-live="polite">
        <h2>{device.name}</h2>
        {found.length === 0 ? (
          <p class="listening">
            <i aria-hidden="true" /> Listening. The value appears here by itself.
          </p>
        ) : (
          <>
            <dl class="first-values">
              {found.map(({ field, value, timestamp }) => (
                <div key={field.identifier}>
                  <dt>{field.name ?? field.identifier}</dt>
                  <dd data-long={String(value).length > LONG}>{valueText(value, field.unit)}</dd>
                  <dd class="hint">
                    <TimeAgo at={timestamp} />
                  </dd>
                </div>
              ))}
            </dl>
            <div class="row">
              <a class="button primary" href={href(`/devices/${device.id}`)}>
                Open {device.name}
              </a>
              <a class="button" href={href('/devices')}>
                All devices
              </a>
            </div>
          </>
        )}
      </section>
      <NetworkLinks productId={device.product.id} deviceId={device.id} />
    </>
  );
}
