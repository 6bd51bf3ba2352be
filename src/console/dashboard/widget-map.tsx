import { useMemo, useRef, useState } from 'preact/hooks';
import { mergeValues } from '../chart/merge-values.ts';
import { placeText } from '../map/place.ts';
import { type TrackPoint, trackBeside, trackOf } from '../map/track.ts';
import { type NamedTrack, TrackMap } from '../map/track-map.tsx';
import { Note } from '../parts/note.tsx';
import { dateTimeText } from '../parts/time-text.ts';
import { type DashboardSeries, pointsOfEach, useDashboardHistory } from './use-dashboard-history.ts';
import { type DashboardLive, valueKey } from './use-pushed-values.ts';
import { optionsOf } from './widget-options.ts';
import type { WidgetProps } from './widget-props.ts';
import { counted, t } from '../texts/texts.ts';

/** Points of all tracks of a map together. */
const POINTS = 8_000;
const LOWEST = 120;
/** Height of the line below the map. */
const BELOW = 28;
/** Maximum tracks whose ends are named. */
const MAX_NAMED = 20;

interface Way extends NamedTrack {
  key: string;
  deviceId: string;
  name: string;
}

/** A point of a way: its index changes while values arrive. */
interface Marked {
  key: string;
  timestamp: number;
}

/** The ways of the devices in the range, or where they are, on one map to drag and zoom. */
export function WidgetMap({ widget, devices, fields, live, height }: WidgetProps) {
  const points = pointsOfEach(POINTS, devices.length * fields.length);
  const { series, error } = useDashboardHistory({ widget, devices, fields, live, how: { points } });
  const isTrack = optionsOf(widget).track ?? true;
  const [marked, setMarked] = useState<Marked | null>(null);
  const known = useRef<ReadonlyMap<string, KnownTrack>>(new Map());
  const ways = useMemo(() => {
    const [next, isOne] = [new Map<string, KnownTrack>(), (series ?? []).length === 1];
    const all = (series ?? []).flatMap((one): Way[] => {
      const key = valueKey(one.deviceId, one.field);
      const track = trackNow(known.current.get(key), one, live, isTrack);
      next.set(key, track);
      const device = devices.find(({ id }) => id === one.deviceId)?.name ?? '';
      const field = fields.find(({ identifier }) => identifier === one.field)?.name ?? one.field;
      const name = devices.length === 1 ? field : fields.length === 1 ? device : `${device}, ${field}`;
      if (track.points.length === 0) return [];
      return [{ key, deviceId: one.deviceId ?? '', name, endName: isOne ? t('Now') : name, points: track.points }];
    });
    known.current = next;
    const side = all[0]?.points[0]?.place.longitude ?? 0;
    return all.map((way) => ({
      ...way,
      points: trackBeside(way.points, side),
      endName: all.length > MAX_NAMED ? '' : way.endName,
    }));
  }, [series, live, devices, fields, isTrack]);
  const many = counted(new Set(ways.map(({ deviceId }) => deviceId)).size, '{count} device', '{count} devices');
  const at = marked === null ? null : indexOf(ways, marked);
  const title = ways.length > MAX_NAMED ? many : ways.map(({ name }) => name).join(', ');
  // Nothing marked is the last point, where that can be of one way only.
  const shown = pointAt(ways, at ?? (ways.length === 1 ? (ways[0]?.points.length ?? 0) - 1 : -1));
  return (
    <>
      {error !== null && <Note kind="error">{error}</Note>}
      {ways.length === 0 && (series !== null || devices.length === 0) && <p class="hint">No place yet.</p>}
      {ways.length > 0 && (
        <div class="widget-map">
          <TrackMap
            label={`${title} on a map`}
            tracks={ways}
            marked={at}
            onMark={(index) => {
              const place = index === null ? null : pointAt(ways, index);
              setMarked(place && { key: place.way.key, timestamp: place.point.timestamp });
            }}
            height={Math.max(LOWEST, height - BELOW)}
          />
          <p>
            {shown === null ? (
              <span class="hint">{many}</span>
            ) : (
              <>
                {ways.length > 1 && <strong>{shown.way.name} </strong>}
                <span class="mono">{placeText(shown.point.place)}</span>{' '}
                <small>{dateTimeText(new Date(shown.point.timestamp * 1_000))}</small>
              </>
            )}
          </p>
        </div>
      )}
    </>
  );
}

/** A track with what it was made of, so that it is made anew only when that changes. */
interface KnownTrack {
  of: readonly unknown[];
  points: readonly TrackPoint[];
}

function trackNow(
  before: KnownTrack | undefined,
  series: DashboardSeries,
  live: DashboardLive,
  isTrack: boolean,
): KnownTrack {
  const key = valueKey(series.deviceId, series.field);
  const [pushed, latest] = [live.pushed.get(key), live.latest.get(key)];
  const of = [series, pushed, latest, isTrack];
  if (before?.of.every((one, at) => one === of[at]) === true) return before;
  const now = latest === undefined ? [] : [{ timestamp: Date.parse(latest.timestamp) / 1_000, value: latest.value }];
  // A device that was silent in the range is where it was last.
  const columns = isTrack
    ? mergeValues(series, [...(pushed ?? []), ...now])
    : mergeValues({ timestamps: [], values: [] }, now);
  return { of, points: trackOf(columns) };
}

/** The index of the marked point among those of all ways; null: it is there no more. */
function indexOf(ways: readonly Way[], { key, timestamp }: Marked): number | null {
  let before = 0;
  for (const way of ways) {
    const at = way.key === key ? way.points.findIndex((point) => point.timestamp === timestamp) : -1;
    if (at !== -1) return before + at;
    before += way.points.length;
  }
  return null;
}

/** The point of an index among those of all ways, with its way; null: there is none. */
function pointAt(ways: readonly Way[], index: number): { way: Way; point: TrackPoint } | null {
  let at = index;
  for (const way of ways) {
    const point = way.points[at];
    if (point !== undefined) return { way, point };
    at -= way.points.length;
  }
  return null;
}
