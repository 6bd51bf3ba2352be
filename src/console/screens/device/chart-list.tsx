import { useMemo } from 'preact/hooks';
import { useParameter } from '../../navigation/place.ts';
import { ruleLines } from '../../rules/references.ts';
import { ChartRun } from './chart-run.tsx';
import { CompareMenu } from './compare-menu.tsx';
import { useComparison } from './comparison.ts';
import type { DeviceField } from './device.graphql.ts';
import { DeviceNotes } from './device-notes.tsx';
import type { CardSurroundings } from './field-card.ts';
import type { LiveValues } from './live-values.ts';
import type { OpenFields } from './open-fields.ts';
import { RangeBar } from './range-bar.tsx';
import type { ShownDevice } from './shown-device.ts';
import { FIELDS_AT_ONCE } from './use-charts.ts';
import type { Latest } from './use-latest.ts';
import type { ShownRange } from './use-range.ts';

/** Number of fields from which they can be filtered by name. */
const MANY = 7;
const DAY_MS = 86_400_000;

interface ChartListProps {
  device: ShownDevice;
  range: ShownRange;
  live: LiveValues;
  latest: ReadonlyMap<string, Latest>;
  open: OpenFields;
  onChanged: () => void;
}

/** The charts of a device, folded or open, with what they share: range, filter, comparison and notes. */
export function ChartList({ device, range, live, latest, open, onChanged }: ChartListProps) {
  const { product, plan, notes } = device;
  const { fields } = product;
  const [filter, setFilter] = useParameter('show');
  const comparison = useComparison();
  const { from, to } = range.shown;
  const noted = { from, to: range.fetched.name === 'own' ? to : Infinity };
  const marked = useMemo(() => notes.map(({ at }) => Date.parse(at) / 1_000), [notes]);
  const linesOf = useMemo(
    (): CardSurroundings['linesOf'] => (identifier, shown) => ruleLines(product.rules ?? [], identifier, device, shown),
    [product.rules, device.configuration, device.tags],
  );
  const keptFrom = plan.retentionDays === null ? null : to - plan.retentionDays * DAY_MS;
  const found = fields.filter(({ identifier, name }) =>
    `${name ?? ''} ${identifier}`.toLowerCase().includes((filter ?? '').trim().toLowerCase()),
  );
  const around = { fields, range, live, marked, keptFrom, linesOf };
  const identifiers = found.map(({ identifier }) => identifier);
  return (
    <>
      <RangeBar range={range} keptFrom={keptFrom} />
      <div class="chart-tools">
        {fields.length >= MANY && (
          <input
            type="search"
            aria-label="Filter fields"
            placeholder="Filter fields"
            value={filter ?? ''}
            onInput={({ currentTarget }) => setFilter(currentTarget.value)}
          />
        )}
        <CompareMenu comparison={comparison} device={device} />
        <DeviceNotes deviceId={device.id} notes={notes} range={noted} onChanged={onChanged} />
        <span class="grow" />
        {identifiers.some((one) => !open.has(one)) && (
          <button type="button" class="quiet" onClick={() => open.only(identifiers)}>
            Open all
          </button>
        )}
        {identifiers.some((one) => open.has(one)) && (
          <button type="button" class="quiet" onClick={() => open.only([])}>
            Fold all
          </button>
        )}
      </div>
      {found.length === 0 && <p class="hint">No field is called so.</p>}
      {runsOf(found, open).map((run, at) => (
        <ChartRun
          key={at}
          deviceId={device.id}
          run={run}
          open={open}
          comparison={comparison}
          latest={latest}
          around={around}
        />
      ))}
    </>
  );
}

/** The fields in pieces with as many open ones as are fetched at once; each may bring a second field. */
function runsOf(fields: readonly DeviceField[], open: OpenFields): DeviceField[][] {
  const runs: DeviceField[][] = [];
  let count = FIELDS_AT_ONCE;
  for (const field of fields) {
    const isOpen = open.has(field.identifier);
    if (runs.length === 0 || (isOpen && count >= FIELDS_AT_ONCE)) {
      runs.push([]);
      count = 0;
    }
    runs.at(-1)?.push(field);
    if (isOpen) count += 1;
  }
  return runs;
}
