import { request } from '../../api/request.ts';
import { useStore } from '../../api/store.ts';
import { useAction } from '../../api/use-action.ts';
import { useQuery } from '../../api/use-query.ts';
import { Note } from '../../parts/note.tsx';
import { toast } from '../../parts/toasts.tsx';
import { workspaceId } from '../../session/session.ts';
import { AdoptNamed, UnknownNamed } from './calls.graphql.ts';
import { counted } from '../../texts/texts.ts';

/** Names that are told one by one. */
const TOLD = 5;

interface AdoptFromCallProps {
  productId: string;
  /** Names of devices in the call that the product does not have. */
  names: readonly string[];
}

/** Makes the devices that a call named, all at once; what was kept of them is decoded again. */
export function AdoptFromCall({ productId, names }: AdoptFromCallProps) {
  const workspace = useStore(workspaceId);
  const { data, refetch } = useQuery(UnknownNamed, { workspaceId: workspace });
  const wanted = new Set(names);
  const waiting = (data?.unknownDevices ?? []).filter(
    (device) => device.productId === productId && wanted.has(device.identifier),
  );
  const plans = data?.plans ?? [];
  const adopting = useAction(async () => {
    const plan = plans.at(-1)?.slug ?? null;
    const ids = waiting.map(({ id }) => id);
    const { adoptUnknownDevices } = await request(AdoptNamed, { ids, productId, plan });
    // The call is looked at again, and this part of it goes with the names that it was about.
    toast(
      counted(
        adoptUnknownDevices.length,
        'The device is there, with the values that were kept.',
        '{count} devices are there, with the values that were kept.',
      ),
    );
    await refetch();
  });
  if (waiting.length === 0) return null;
  const told = waiting.slice(0, TOLD).map(({ identifier }) => identifier);
  return (
    <div class="note stack">
      <span>
        {counted(waiting.length, 'The product has no device', 'The product has no devices')}{' '}
        <span class="mono">{told.join(', ')}</span>
        {waiting.length > TOLD && ` and ${waiting.length - TOLD} more`}.
      </span>
      <div class="row">
        <button type="button" disabled={adopting.busy} onClick={() => void adopting.run()}>
          {counted(waiting.length, 'Make this device', 'Make these {count} devices')}
        </button>
        <small>Plan {plans.at(-1)?.name}; what they sent is decoded again.</small>
      </div>
      {adopting.error !== null && <Note kind="error">{adopting.error}</Note>}
    </div>
  );
}
