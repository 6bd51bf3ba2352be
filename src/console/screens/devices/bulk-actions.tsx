import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { toast } from '../../parts/toasts.tsx';
import { DeleteDevices } from '../../deleting/delete-devices.tsx';
import { ChangeDevice, type DeviceRow } from './devices.graphql.ts';
import { forEachOf } from '../../api/for-each-of.ts';

/** As many ids as fit into an address; a product or a tag can be exported whole. */
const MAX_EXPORTED = 300;

interface BulkActionsProps {
  devices: readonly DeviceRow[];
  plans: readonly { slug: string; name: string }[];
  /** Something was changed. */
  onDone: () => void;
  onClear: () => void;
}

/** What can be done to all devices selected. */
export function BulkActions({ devices, plans, onDone, onClear }: BulkActionsProps) {
  const [tag, setTag] = useState('');
  const [done, setDone] = useState(0);
  const [isDeleting, setDeleting] = useState(false);
  const changing = useAction(async (said: string, inputOf: (device: DeviceRow) => object | null) => {
    setDone(0);
    await forEachOf(devices, async (device) => {
      const input = inputOf(device);
      if (input !== null) await request(ChangeDevice, { id: device.id, input });
      setDone((count) => count + 1);
    });
    toast(said);
    onDone();
  });
  const count = devices.length === 1 ? '1 device' : `${devices.length.toLocaleString()} devices`;
  const known = [...new Set(devices.flatMap((device) => device.tags))].sort();
  const add = (): void => {
    const wanted = tag.trim();
    if (wanted === '') return;
    void changing
      .run(`Tag “${wanted}” added to ${count}.`, ({ tags }) =>
        tags.includes(wanted) ? null : { tags: [...tags, wanted] },
      )
      .then((ok) => ok && setTag(''));
  };
  const exported = new URLSearchParams(devices.map(({ id }) => ['device', id]));
  return (
    <div class="bulk" role="region" aria-label="Selected devices">
      <strong>{changing.busy ? `${done} of ${count}` : `${count} selected`}</strong>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          add();
        }}
      >
        <input
          aria-label="Tag to add"
          placeholder="Tag to add"
          value={tag}
          onInput={(event) => setTag(event.currentTarget.value)}
        />
        <button type="submit" disabled={changing.busy || tag.trim() === ''}>
          <Icon name="tag" /> Tag
        </button>
      </form>
      {known.length > 0 && (
        <select
          aria-label="Tag to take away"
          value=""
          disabled={changing.busy}
          onChange={(event) => {
            const gone = event.currentTarget.value;
            void changing.run(`Tag “${gone}” taken from ${count}.`, ({ tags }) =>
              tags.includes(gone) ? { tags: tags.filter((other) => other !== gone) } : null,
            );
          }}
        >
          <option value="">Take away tag…</option>
          {known.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      )}
      <select
        aria-label="Plan"
        value=""
        disabled={changing.busy}
        onChange={(event) => {
          const plan = event.currentTarget.value;
          void changing.run(`Plan of ${count} changed.`, () => ({ plan }));
        }}
      >
        <option value="">Plan…</option>
        {plans.map(({ slug, name }) => (
          <option key={slug} value={slug}>
            {name}
          </option>
        ))}
      </select>
      {devices.length <= MAX_EXPORTED && (
        <a class="button" href={`/v1/export.csv?${exported.toString()}`} download>
          <Icon name="download" /> Export
        </a>
      )}
      <button type="button" class="danger" disabled={changing.busy} onClick={() => setDeleting(true)}>
        <Icon name="trash" /> Delete
      </button>
      <button type="button" class="quiet" onClick={onClear}>
        Clear
      </button>
      {changing.error !== null && <Note kind="error">{changing.error}</Note>}
      {isDeleting && <DeleteDevices devices={devices} onClose={() => setDeleting(false)} onDone={onDone} />}
    </div>
  );
}
