import { useEffect, useRef, useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import type { DeviceType } from '../../api/schema-types.ts';
import { useStore } from '../../api/store.ts';
import { useAction } from '../../api/use-action.ts';
import { useParameter } from '../../navigation/place.ts';
import { CopyText } from '../../parts/copy-text.tsx';
import { Note } from '../../parts/note.tsx';
import { CreateSendingToken } from '../../sending/sending.graphql.ts';
import { may, workspaceId } from '../../session/session.ts';
import { networkTexts } from './network-texts.ts';

const FIRST: Record<DeviceType, string> = { API: 'Notehub', LORAWAN: 'The Things Stack', PARTICLE: 'Particle' };

/** The settings for networks that send here. */
export function NetworksCard({ webhookUrl, deviceType }: { webhookUrl: string | null; deviceType: DeviceType }) {
  const workspace = useStore(workspaceId);
  const [named, setChosen] = useParameter('network');
  const card = useRef<HTMLElement>(null);
  // Scroll to the card when the address names a network.
  useEffect(() => {
    if (named !== null) card.current?.scrollIntoView();
  }, []);
  const [secret, setSecret] = useState<string | null>(null);
  const making = useAction(async () => {
    const input = {
      name: 'records for networks',
      kind: 'INDIVIDUAL',
      scopes: ['RECORD'],
      workspaceId: workspace,
    } as const;
    const { createToken } = await request(CreateSendingToken, { input });
    setSecret(createToken.secret);
  });
  const texts = networkTexts({ origin: location.origin, token: secret ?? '<token>', webhookUrl });
  const shown = texts.find(({ name }) => name === named) ?? texts.find(({ name }) => name === FIRST[deviceType])!;
  return (
    <section ref={card} class="card" aria-labelledby="networks-title">
      <div class="card-head">
        <h2 id="networks-title" class="grow">
          Networks
        </h2>
        <div class="tabs networks" role="group" aria-label="Network">
          {texts.map(({ name }) => (
            <button key={name} type="button" aria-pressed={name === shown.name} onClick={() => setChosen(name)}>
              {name}
            </button>
          ))}
        </div>
      </div>
      <div class="stack inside">
        <p class="hint">{shown.where}</p>
        <CopyText label={`the settings for ${shown.name}`} text={shown.text} />
        {making.error !== null && <Note kind="error">{making.error}</Note>}
        {shown.text.includes('<token>') && may('ADMIN') && (
          <div class="row">
            <button type="button" disabled={making.busy} onClick={() => void making.run()}>
              Make a token for it
            </button>
            <span class="hint">It may record in this workspace and nothing else.</span>
          </div>
        )}
        {secret !== null && <p class="hint">The token is shown this once; revoke it under Access.</p>}
      </div>
    </section>
  );
}
