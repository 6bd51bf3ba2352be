import { useMemo, useRef } from 'preact/hooks';
import { carriedIn } from '../../chart/field-chart-data.ts';
import { mergeValues } from '../../chart/merge-values.ts';
import { useSharedCursor } from '../../chart/shared-cursor.ts';
import { placeText } from '../../map/place.ts';
import { nearestInTime, trackOf } from '../../map/track.ts';
import { TrackMap } from '../../map/track-map.tsx';
import { Note } from '../../parts/note.tsx';
import { dateTimeText } from '../../parts/time-text.ts';
import type { FieldCardProps } from './field-card.ts';
import { FieldHead } from './field-head.tsx';
import { StatisticsLine } from './statistics-line.tsx';
import { useDrawnValues } from './use-drawn-values.ts';
import { t } from '../../texts/texts.ts';

/** The track of a device in the range, on a map that shares its cursor with the charts. */
export function FieldTrack(props: FieldCardProps) {
  const { field, values, range } = props;
  const { identifier, name } = field;
  const host = useRef<HTMLElement>(null);
  const { answer, pushed, from, to } = useDrawnValues({ ...props, identifier, answer: values?.answer ?? null }, host);
  const fetched = useMemo(() => (answer === null ? null : carriedIn(answer.raw, true, from)), [answer]);
  // Compute the track only when the begin of a moving range passes a point.
  const first = fetched?.timestamps.findIndex((timestamp) => timestamp > from / 1_000) ?? 0;
  const track = useMemo(
    () => (fetched === null ? [] : trackOf(mergeValues(fetched, pushed, from / 1_000))),
    [fetched, pushed, first],
  );
  const endName = range.fetched.name === 'own' && to < Date.now() ? t('End') : t('Now');
  const tracks = useMemo(() => [{ endName, points: track }], [endName, track]);
  const [time, point] = useSharedCursor('device');
  const marked = useMemo(() => (time === null ? null : nearestInTime(track, time)), [track, time]);
  const shown = track[marked ?? track.length - 1];
  const title = name ?? identifier;
  const resolution = answer?.raw.resolution ?? null;
  return (
    <section ref={host} class="card field-chart" id={`field-${identifier}`} aria-label={title}>
      <FieldHead {...props} chip={resolution === null ? null : t('the last of each {resolution}', { resolution })}>
        <span class="readout place">
          {shown === undefined ? (
            <span class="muted">–</span>
          ) : (
            <>
              <small>{dateTimeText(new Date(shown.timestamp * 1_000))}</small>
              <strong>{placeText(shown.place)}</strong>
            </>
          )}
        </span>
      </FieldHead>
      {answer === null ? (
        <div class="waiting map" />
      ) : track.length === 0 ? (
        <Note>No place in this range.</Note>
      ) : (
        <TrackMap
          label={`${title} on a map`}
          tracks={tracks}
          marked={marked}
          onMark={(at) => point(at === null ? null : (track[at]?.timestamp ?? null))}
        />
      )}
      <StatisticsLine statistics={values?.statistics ?? null} field={field} />
    </section>
  );
}
