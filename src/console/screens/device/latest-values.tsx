import { useEffect, useState } from 'preact/hooks';
import { shownColor, shownText } from '../../fields/display.ts';
import { placeText, readPlace } from '../../map/place.ts';
import { TimeAgo } from '../../parts/time-ago.tsx';
import type { MeasuredValue } from '../../parts/value-text.ts';
import type { DeviceField } from './device.graphql.ts';
import type { LiveValues } from './live-values.ts';

/** Characters from which a value is written smaller, and in two lines of the same height. */
const LONG = 10;
const VERY_LONG = 18;

interface Latest {
  value: MeasuredValue;
  timestamp: string;
}

interface LatestValuesProps {
  fields: readonly DeviceField[];
  latest: ReadonlyMap<string, Latest>;
  live: LiveValues;
}

/** The latest value of each field, live, with a link to its chart. */
export function LatestValues({ fields, latest, live }: LatestValuesProps) {
  return (
    <ul class="latest" aria-label="Latest values">
      {fields.map((field) => (
        <LatestValue key={field.identifier} field={field} fetched={latest.get(field.identifier) ?? null} live={live} />
      ))}
    </ul>
  );
}

function LatestValue({ field, fetched, live }: { field: DeviceField; fetched: Latest | null; live: LiveValues }) {
  const { identifier, name, type } = field;
  const [pushed, setPushed] = useState<Latest | null>(null);
  useEffect(
    () =>
      live.listen(identifier, (points) => {
        const last = points.reduce((newest, point) => (point.timestamp >= newest.timestamp ? point : newest));
        const timestamp = new Date(last.timestamp * 1_000).toISOString();
        setPushed((before) =>
          before !== null && before.timestamp > timestamp ? before : { value: last.value, timestamp },
        );
      }),
    [live, identifier],
  );
  const shown = pushed !== null && (fetched === null || pushed.timestamp >= fetched.timestamp) ? pushed : fetched;
  const place = type === 'GEOLOCATION' ? readPlace(shown?.value) : null;
  const text = place === null ? shownText(shown?.value, field) : placeText(place);
  return (
    <li>
      <a href={`#field-${identifier}`}>
        <span class="latest-name">{name ?? identifier}</span>
        <strong
          data-color={shownColor(shown?.value, field) ?? undefined}
          data-long={text.length > VERY_LONG ? 'very' : text.length > LONG}
          title={text}
        >
          {text}
        </strong>
        <small>
          <TimeAgo at={shown?.timestamp ?? null} />
        </small>
      </a>
    </li>
  );
}
