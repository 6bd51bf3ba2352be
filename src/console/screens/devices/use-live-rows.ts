import { useEffect, useRef, useState } from 'preact/hooks';
import { useLive } from '../../api/use-live.ts';
import { useLater } from '../../parts/use-later.ts';
import { type DeviceRow, RowStatus, RowValues } from './devices.graphql.ts';

type Latest = DeviceRow['latest'][number];

/** Changes of a device since its row was fetched. */
export interface LiveChange {
  online?: boolean;
  lastHeardAt?: string;
  latest: ReadonlyMap<string, Latest>;
}

const REDRAW_MS = 200;
const SETTLE_MS = 300;
/** Maximum devices whose changes are kept; then all are dropped and `missed` is called. */
const MAX_KEPT = 20_000;

/**
 * Live values and states of the visible devices, by device id; drawn at most five times a second. `missed`: fetch the
 * rows again.
 */
export function useLiveRows(
  workspaceId: string | null,
  visibleIds: readonly string[],
  missed: () => void,
): ReadonlyMap<string, LiveChange> {
  const changes = useRef(new Map<string, LiveChange>());
  const [, redraw] = useState(0);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const note = (id: string, change: (before: LiveChange) => LiveChange): void => {
    if (changes.current.size > MAX_KEPT) {
      changes.current.clear();
      missed();
    }
    changes.current.set(id, change(changes.current.get(id) ?? { latest: new Map() }));
    timer.current ??= setTimeout(() => {
      timer.current = null;
      redraw((count) => count + 1);
    }, REDRAW_MS);
  };
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
    },
    [],
  );
  const ids = useLater(visibleIds.toSorted().join(' '), SETTLE_MS);
  useLive(RowValues, ids === '' ? null : { deviceIds: ids.split(' ') }, {
    missed,
    next: ({ measurementsRecorded: { device, receivedAt, measurements } }) =>
      note(device.id, (before) => {
        const latest = new Map(before.latest);
        for (const one of measurements) {
          const known = latest.get(one.field.identifier);
          if (known === undefined || known.timestamp <= one.timestamp) latest.set(one.field.identifier, one);
        }
        return { ...before, online: true, lastHeardAt: receivedAt, latest };
      }),
  });
  useLive(RowStatus, workspaceId === null ? null : { workspaceId }, {
    next: ({ deviceStatusChanged: { device, online } }) => note(device.id, (before) => ({ ...before, online })),
  });
  return changes.current;
}

/** A row with the changes since it was fetched. */
export function changedRow(row: DeviceRow, change: LiveChange | undefined): DeviceRow {
  if (change === undefined) return row;
  const latest = row.latest.map((one) => newer(one, change.latest.get(one.field.identifier)));
  const known = new Set(latest.map(({ field }) => field.identifier));
  for (const [identifier, one] of change.latest) if (!known.has(identifier)) latest.push(one);
  return {
    ...row,
    online: change.online ?? row.online,
    lastHeardAt: change.lastHeardAt ?? row.lastHeardAt,
    latest,
  };
}

function newer(fetched: Latest, pushed: Latest | undefined): Latest {
  return pushed !== undefined && pushed.timestamp >= fetched.timestamp ? pushed : fetched;
}
