import { useMemo, useState } from 'preact/hooks';
import { mergeValues } from '../chart/merge-values.ts';
import { placeText } from '../map/place.ts';
import { trackOf } from '../map/track.ts';
import { TrackMap } from '../map/track-map.tsx';
import { Note } from '../parts/note.tsx';
import { dateTimeText } from '../parts/time-text.ts';
import { type DashboardSeries, useDashboardHistory } from './use-dashboard-history.ts';
import { type DashboardLive, valueKey } from './use-pushed-values.ts';
import { optionsOf } from './widget-options.ts';
import type { WidgetProps } from './widget-props.ts';

const POINTS = 800;
const LOWEST = 120;
/** Height of the line below the map. */
const BELOW = 28;

/** The way of each device in the range, or where it is, on a map to drag and zoom. */
export function WidgetMap({ widget, devices, fields, live, height }: WidgetProps) {
  const { series, error } = useDashboardHistory({ widget, devices, fields, live, how: { points: POINTS } });
  const isTrack = optionsOf(widget).track ?? true;
  const found = series ?? [];
  const room = Math.max(LOWEST, Math.floor(height / Math.max(1, found.length)) - BELOW);
  return (
    <>
      {error !== null && <Note kind="error">{error}</Note>}
      {devices.length === 0 && <p class="hint">No place yet.</p>}
      {found.map((one) => {
        const field = fields.find(({ identifier }) => identifier === one.field);
        const of = devices.find(({ id }) => id === one.deviceId)?.name ?? '';
        const name = field?.name ?? one.field;
        return (
          <DeviceTrack
            key={valueKey(one.deviceId, one.field)}
            name={devices.length > 1 ? of : name}
            series={one}
            live={live}
            isTrack={isTrack}
            height={room}
          />
        );
      })}
    </>
  );
}

interface DeviceTrackProps {
  name: string;
  series: DashboardSeries;
  live: DashboardLive;
  isTrack: boolean;
  height: number;
}

function DeviceTrack({ name, series, live, isTrack, height }: DeviceTrackProps) {
  const [marked, setMarked] = useState<number | null>(null);
  const key = valueKey(series.deviceId, series.field);
  const pushed = live.pushed.get(key);
  const known = live.latest.get(key);
  const track = useMemo(() => {
    const now = known === undefined ? [] : [{ timestamp: Date.parse(known.timestamp) / 1_000, value: known.value }];
    // A device that was silent in the range is where it was last.
    if (!isTrack) return trackOf(mergeValues({ timestamps: [], values: [] }, now));
    return trackOf(mergeValues(series, [...(pushed ?? []), ...now]));
  }, [series, pushed, known, isTrack]);
  const shown = track[marked ?? track.length - 1];
  if (shown === undefined) return <p class="hint">No place yet.</p>;
  return (
    <div class="widget-map">
      <TrackMap
        label={`${name} on a map`}
        track={track}
        marked={marked}
        onMark={setMarked}
        endName="Now"
        height={height}
      />
      <p>
        <span class="mono">{placeText(shown.place)}</span>{' '}
        <small>{dateTimeText(new Date(shown.timestamp * 1_000))}</small>
      </p>
    </div>
  );
}
