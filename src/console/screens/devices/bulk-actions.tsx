import { useEffect, useRef, useState } from 'preact/hooks';
import { forEachOf } from '../../api/for-each-of.ts';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { DeleteDevices } from '../../deleting/delete-devices.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { pickWithKeys } from '../../parts/pick-with-keys.ts';
import { toast } from '../../parts/toasts.tsx';
import { type ChosenDevice, devicesThatFit } from './chosen-devices.ts';
import type { DeviceFilter } from './device-filter.ts';
import { ConfirmPlan, type ShortPlan } from './confirm-plan.tsx';
import { ChangeDevice } from './devices.graphql.ts';
import { ExportChosen } from './export-chosen.tsx';

interface BulkActionsProps {
  /** The selected devices. */
  devices: readonly ChosenDevice[];
  /** Number of devices that match the filter: all of them may be chosen instead; null: not known yet. */
  total: number | null;
  workspaceId: string | null;
  filter: DeviceFilter;
  plans: readonly { slug: string; name: string; retentionDays: number | null }[];
  /** Called after a change. */
  onDone: () => void;
  onClear: () => void;
}

/** Progress of an action on many devices. */
interface Progress {
  what: 'Found' | 'Changed';
  done: number;
  of: number;
}

/** Actions on all selected devices, or on all that match the filter. */
export function BulkActions({ devices, total, workspaceId, filter, plans, onDone, onClear }: BulkActionsProps) {
  const [tag, setTag] = useState('');
  const [isAll, setAll] = useState(false);
  const [progress, setProgress] = useState<Progress | null>(null);
  const [deleting, setDeleting] = useState<readonly ChosenDevice[] | null>(null);
  const [planning, setPlanning] = useState<{ plan: ShortPlan; devices: readonly ChosenDevice[] } | null>(null);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const all = isAll && total !== null;
  const number = all ? total : devices.length;
  const chosen = (signal: AbortSignal): Promise<readonly ChosenDevice[]> => {
    const tell = (done: number): void => setProgress({ what: 'Found', done, of: number });
    return all ? devicesThatFit(workspaceId, filter, { tell, signal }) : Promise.resolve(devices);
  };
  const changing = useAction(
    async (saidOf: (count: string) => string, inputOf: (device: ChosenDevice) => object | null) => {
      const { signal } = (stop.current = new AbortController());
      let done = 0;
      let found: readonly ChosenDevice[] = [];
      try {
        found = await chosen(signal);
        await forEachOf(
          found,
          async (device) => {
            const input = inputOf(device);
            if (input !== null) await request(ChangeDevice, { id: device.id, input, confirm: true });
            done += 1;
            setProgress({ what: 'Changed', done, of: found.length });
          },
          signal,
        );
      } catch (error) {
        if (!signal.aborted)
          throw new Error(
            `${(error as Error).message}${done === 0 ? '' : ` ${countText(done)} were done before that.`}`,
            {
              cause: error,
            },
          );
      } finally {
        setProgress(null);
      }
      toast(signal.aborted ? `Stopped: ${done} of ${countText(found.length)} were done.` : saidOf(countText(done)));
      onDone();
    },
  );
  const finding = useAction(async (then: (found: readonly ChosenDevice[]) => void) => {
    const { signal } = (stop.current = new AbortController());
    try {
      then(await chosen(signal));
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      setProgress(null);
    }
  });
  const givePlan = (plan: string): void =>
    void changing.run(
      (count) => `Plan of ${count} changed.`,
      () => ({ plan }),
    );
  const isBusy = changing.busy || finding.busy;
  const known = [...new Set(devices.flatMap((device) => device.tags))].sort();
  const add = (): void => {
    const wanted = tag.trim();
    if (wanted === '') return;
    void changing
      .run(
        (count) => `Tag “${wanted}” added to ${count}.`,
        ({ tags }) => (tags.includes(wanted) ? null : { tags: [...tags, wanted] }),
      )
      .then((ok) => ok && setTag(''));
  };
  return (
    <div class="bulk" role="region" aria-label="Selected devices">
      <strong role="status">
        {progress === null
          ? `${countText(number)} ${all ? 'that fit' : 'selected'}`
          : `${progress.what} ${progress.done.toLocaleString()} of ${countText(progress.of)}`}
      </strong>
      {!isBusy && !isAll && total !== null && total > devices.length && (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          Choose all {total.toLocaleString()} that fit
        </button>
      )}
      {isBusy && (
        <button type="button" onClick={() => stop.current.abort()}>
          Stop
        </button>
      )}
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
        <button type="submit" disabled={isBusy || tag.trim() === ''}>
          <Icon name="tag" /> Tag
        </button>
      </form>
      {known.length > 0 && (
        <select
          aria-label="Tag to take away"
          value=""
          disabled={isBusy}
          onKeyDown={pickWithKeys}
          onChange={(event) => {
            const gone = event.currentTarget.value;
            void changing.run(
              (count) => `Tag “${gone}” taken from ${count}.`,
              ({ tags }) => (tags.includes(gone) ? { tags: tags.filter((other) => other !== gone) } : null),
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
        disabled={isBusy}
        onKeyDown={pickWithKeys}
        onChange={(event) => {
          const plan = plans.find(({ slug }) => slug === event.currentTarget.value);
          // Reset the choice, so that choosing the same plan again is an event.
          event.currentTarget.value = '';
          if (plan === undefined) return;
          const { retentionDays } = plan;
          if (retentionDays === null) givePlan(plan.slug);
          else void finding.run((found) => setPlanning({ plan: { ...plan, retentionDays }, devices: found }));
        }}
      >
        <option value="">Plan…</option>
        {plans.map(({ slug, name }) => (
          <option key={slug} value={slug}>
            {name}
          </option>
        ))}
      </select>
      <ExportChosen ids={all ? null : devices.map(({ id }) => id)} workspaceId={workspaceId} filter={filter} />
      <button type="button" class="danger" disabled={isBusy} onClick={() => void finding.run(setDeleting)}>
        <Icon name="trash" /> Delete
      </button>
      <button type="button" class="quiet" disabled={isBusy} onClick={onClear}>
        Clear
      </button>
      {(changing.error ?? finding.error) !== null && <Note kind="error">{changing.error ?? finding.error}</Note>}
      {planning !== null && (
        <ConfirmPlan
          {...planning}
          onClose={() => setPlanning(null)}
          onConfirm={() => {
            setPlanning(null);
            givePlan(planning.plan.slug);
          }}
        />
      )}
      {deleting !== null && <DeleteDevices devices={deleting} onClose={() => setDeleting(null)} onDone={onDone} />}
    </div>
  );
}

function countText(count: number): string {
  return count === 1 ? '1 device' : `${count.toLocaleString()} devices`;
}
