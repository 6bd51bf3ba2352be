import { useEffect, useRef, useState } from 'preact/hooks';
import { useAction } from '../../api/use-action.ts';
import { DeleteDevices } from '../../deleting/delete-devices.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { pickWithKeys } from '../../parts/pick-with-keys.ts';
import { toast } from '../../parts/toasts.tsx';
import { type ChangedDevices, changeMany } from './change-many.ts';
import { type ChosenDevice, devicesThatFit } from './chosen-devices.ts';
import { ConfirmChange, type WishedChange } from './confirm-change.tsx';
import { ConfirmPlan, type ShortPlan } from './confirm-plan.tsx';
import type { DeviceFilter } from './device-filter.ts';
import { ExportChosen } from './export-chosen.tsx';
import { MoveDevices } from './move-devices.tsx';
import { counted, t } from '../../texts/texts.ts';
import { countText } from '../../texts/count-text.ts';

interface BulkActionsProps {
  /** The selected devices. */
  devices: readonly ChosenDevice[];
  /** Number of devices that match the filter: all of them may be chosen instead; null: not known yet. */
  total: number | null;
  workspaceId: string | null;
  filter: DeviceFilter;
  plans: readonly { slug: string; name: string; retentionDays: number | null }[];
  products: readonly { id: string; name: string }[];
  /** Called after a change. */
  onDone: () => void;
  onClear: () => void;
}

/** A dialog about devices that were found for it. */
type Asking =
  | { kind: 'delete'; devices: readonly ChosenDevice[] }
  | { kind: 'plan'; devices: readonly ChosenDevice[]; plan: ShortPlan }
  | { kind: 'move'; devices: readonly ChosenDevice[]; product: { id: string; name: string } };

/** Actions on all selected devices, or on all that match the filter; each says first what it will do. */
export function BulkActions({
  devices,
  total,
  workspaceId,
  filter,
  plans,
  products,
  onDone,
  onClear,
}: BulkActionsProps) {
  const [tag, setTag] = useState('');
  const [isAll, setAll] = useState(false);
  const [found, setFound] = useState<number | null>(null);
  const [change, setChange] = useState<WishedChange | null>(null);
  const [asking, setAsking] = useState<Asking | null>(null);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const all = isAll && total !== null;
  const number = all ? total : devices.length;
  const changed: ChangedDevices = all ? { workspaceId, filter } : { ids: devices.map(({ id }) => id) };
  const finding = useAction(async (then: (some: readonly ChosenDevice[]) => void) => {
    const { signal } = (stop.current = new AbortController());
    try {
      then(all ? await devicesThatFit(workspaceId, filter, { tell: setFound, signal }) : devices);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      setFound(null);
    }
  });
  const planning = useAction(async (slug: string, some: readonly ChosenDevice[]) => {
    const { changed: count } = await changeMany({ ids: some.map(({ id }) => id) }, { plan: slug }, false);
    toast(counted(count, 'Plan of {count} device changed.', 'Plan of {count} devices changed.'));
    onDone();
  });
  const isBusy = finding.busy || planning.busy;
  const known = [...new Set(devices.flatMap((device) => device.tags))].sort();
  return (
    <div class="bulk" role="region" aria-label="Selected devices">
      <strong role="status">
        {found !== null
          ? counted(number, 'Found {found} of {count} device', 'Found {found} of {count} devices', {
              found: countText(found),
            })
          : all
            ? counted(number, '{count} device that fits', '{count} devices that fit')
            : counted(number, '{count} device selected', '{count} devices selected')}
      </strong>
      {!isBusy && !isAll && total !== null && total > devices.length && (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          Choose all {countText(total)} that fit
        </button>
      )}
      {finding.busy && (
        <button type="button" onClick={() => stop.current.abort()}>
          Stop
        </button>
      )}
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const wanted = tag.trim();
          if (wanted === '') return;
          setChange({
            title: t('Add the tag “{wanted}”', { wanted }),
            done: (count) =>
              counted(count, 'Tag “{wanted}” added to {count} device.', 'Tag “{wanted}” added to {count} devices.', {
                wanted,
              }),
            input: { addTags: [wanted] },
          });
        }}
      >
        <input
          aria-label="Tag to add"
          placeholder="Tag to add"
          value={tag}
          onInput={(event) => setTag(event.currentTarget.value)}
        />
        <button type="submit" disabled={isBusy || tag.trim() === ''}>
          <Icon name="tag" /> Tag
        </button>
      </form>
      {known.length > 0 && (
        <Choice
          label="Tag to take away"
          first="Take away tag…"
          isDisabled={isBusy}
          options={known.map((name) => ({ value: name, text: name }))}
          onChoose={(gone) =>
            setChange({
              title: t('Take the tag “{gone}” away', { gone }),
              done: (count) =>
                counted(count, 'Tag “{gone}” taken from {count} device.', 'Tag “{gone}” taken from {count} devices.', {
                  gone,
                }),
              input: { removeTags: [gone] },
            })
          }
        />
      )}
      <Choice
        label="Plan"
        first="Plan…"
        isDisabled={isBusy}
        options={plans.map(({ slug, name }) => ({ value: slug, text: name }))}
        onChoose={(slug) => {
          const plan = plans.find((one) => one.slug === slug);
          if (plan === undefined) return;
          const { retentionDays, name } = plan;
          if (retentionDays === null)
            setChange({
              title: t('Change to the plan {name}', { name }),
              done: (count) =>
                counted(count, 'Plan {name} given to {count} device.', 'Plan {name} given to {count} devices.', {
                  name,
                }),
              input: { plan: slug },
            });
          else void finding.run((some) => setAsking({ kind: 'plan', plan: { ...plan, retentionDays }, devices: some }));
        }}
      />
      <Choice
        label="Product to move to"
        first="Move to…"
        isDisabled={isBusy}
        options={products.map(({ id, name }) => ({ value: id, text: name }))}
        onChoose={(id) => {
          const product = products.find((one) => one.id === id);
          if (product !== undefined) void finding.run((some) => setAsking({ kind: 'move', product, devices: some }));
        }}
      />
      <ExportChosen
        ids={all ? null : devices.map(({ id }) => id)}
        workspaceId={workspaceId}
        filter={filter}
        find={(then) => void finding.run(then)}
        isBusy={isBusy}
      />
      <button
        type="button"
        class="danger"
        disabled={isBusy}
        onClick={() => void finding.run((some) => setAsking({ kind: 'delete', devices: some }))}
      >
        <Icon name="trash" /> Delete
      </button>
      <button type="button" class="quiet" disabled={isBusy} onClick={onClear}>
        Clear
      </button>
      {(planning.error ?? finding.error) !== null && <Note kind="error">{planning.error ?? finding.error}</Note>}
      {change !== null && (
        <ConfirmChange change={change} devices={changed} onClose={() => setChange(null)} onDone={onDone} />
      )}
      {asking?.kind === 'plan' && (
        <ConfirmPlan
          plan={asking.plan}
          devices={asking.devices}
          onClose={() => setAsking(null)}
          onConfirm={() => {
            setAsking(null);
            void planning.run(asking.plan.slug, asking.devices);
          }}
        />
      )}
      {asking?.kind === 'move' && (
        <MoveDevices
          product={asking.product}
          devices={asking.devices}
          onClose={() => setAsking(null)}
          onDone={onDone}
        />
      )}
      {asking?.kind === 'delete' && (
        <DeleteDevices devices={asking.devices} onClose={() => setAsking(null)} onDone={onDone} />
      )}
    </div>
  );
}

interface ChoiceProps {
  label: string;
  /** The text while nothing is chosen. */
  first: string;
  isDisabled: boolean;
  options: readonly { value: string; text: string }[];
  onChoose: (value: string) => void;
}

/** A select that acts at once. */
function Choice({ label, first, isDisabled, options, onChoose }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      value=""
      disabled={isDisabled}
      onKeyDown={pickWithKeys}
      onChange={(event) => {
        const { value } = event.currentTarget;
        // Reset the choice, so that choosing the same again is an event.
        event.currentTarget.value = '';
        if (value !== '') onChoose(value);
      }}
    >
      <option value="">{first}</option>
      {options.map(({ value, text }) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
}
