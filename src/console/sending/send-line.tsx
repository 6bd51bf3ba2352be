import { useEffect, useState } from 'preact/hooks';
import { request } from '../api/request.ts';
import type { FieldType } from '../api/schema-types.ts';
import { useAction } from '../api/use-action.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { Note } from '../parts/note.tsx';
import { curlLine } from './sample-line.ts';
import { CreateSendingToken } from './sending.graphql.ts';

interface SendLineProps {
  device: { id: string; name: string };
  workspaceId: string | null;
  fields: readonly { identifier: string; type: FieldType }[];
  /** Makes the token at once, without being asked to. */
  atOnce?: boolean;
}

/** The curl line that records for a device, with a token made for it: scope RECORD, this device, nothing else. */
export function SendLine({ device, workspaceId, fields, atOnce = false }: SendLineProps) {
  const [secret, setSecret] = useState<string | null>(null);
  const making = useAction(async () => {
    const { createToken } = await request(CreateSendingToken, {
      input: {
        name: `records for ${device.name}`.slice(0, 200),
        kind: 'INDIVIDUAL',
        scopes: ['RECORD'],
        deviceIds: [device.id],
        ...(workspaceId === null ? {} : { workspaceId }),
      },
    });
    setSecret(createToken.secret);
  });
  useEffect(() => {
    if (atOnce) void making.run();
  }, [device.id]);
  const line = { origin: location.origin, deviceId: device.id, fields };
  return (
    <div class="stack">
      <CopyText label="the line" text={curlLine({ ...line, secret: secret ?? '<token>' })} />
      {making.error !== null && <Note kind="error">{making.error}</Note>}
      {secret === null ? (
        <div class="row">
          <button type="button" disabled={making.busy} onClick={() => void making.run()}>
            Make a token for it
          </button>
          <span class="hint">It may record for this device and nothing else.</span>
        </div>
      ) : (
        <p class="hint">
          The token in it may record for this device and nothing else. It is shown this once; revoke it under Access.
        </p>
      )}
    </div>
  );
}
