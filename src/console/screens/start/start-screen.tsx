import { useState } from 'preact/hooks';
import { useStore } from '../../api/store.ts';
import { useParameter } from '../../navigation/place.ts';
import { useTitle } from '../../navigation/use-title.ts';
import { session } from '../../session/session.ts';
import { FirstDevice } from './first-device.tsx';
import { FirstValue } from './first-value.tsx';
import { PasswordCard } from './password-card.tsx';
import './start.css';
import { t } from '../../texts/texts.ts';

/** The first steps from an empty server to a value on the page: product, device, a line to run, the value. */
export function StartScreen() {
  useTitle(t('First steps'));
  const now = useStore(session);
  const [device, setDevice] = useParameter('device');
  const [created, setCreated] = useState<string | null>(null);
  const user = now.state === 'in' && now.viewer.token.name !== 'sign-in' ? now.viewer.user : null;
  return (
    <main class="page start">
      <div>
        <h1>First steps</h1>
        <p class="muted">A product says what is measured, a device measures it. Then one line sends a first value.</p>
      </div>
      {device === null ? (
        <FirstDevice
          onCreated={(id) => {
            setCreated(id);
            setDevice(id, { push: true });
          }}
        />
      ) : (
        <FirstValue deviceId={device} isNew={device === created} />
      )}
      {user !== null && <PasswordCard email={user.email} />}
    </main>
  );
}
