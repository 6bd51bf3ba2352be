import { shownColor, shownText } from '../../fields/display.ts';
import { placeText, readPlace } from '../../map/place.ts';
import { TimeAgo } from '../../parts/time-ago.tsx';
import type { DeviceField } from './device.graphql.ts';
import type { LiveValues } from './live-values.ts';
import { type Latest, useLatest } from './use-latest.ts';

/** Characters from which a value is written smaller, and in two lines of the same height. */
const LONG = 10;
const VERY_LONG = 18;

interface LatestValuesProps {
  fields: readonly DeviceField[];
  latest: ReadonlyMap<string, Latest>;
  live: LiveValues;
  /** Opens the chart of a field. */
  onOpen: (identifier: string) => void;
}

/** The latest value of each field, live, with a link to its chart. */
export function LatestValues({ fields, latest, live, onOpen }: LatestValuesProps) {
  return (
    <ul class="latest" aria-label="Latest values">
      {fields.map((field) => (
        <LatestValue
          key={field.identifier}
          field={field}
          fetched={latest.get(field.identifier) ?? null}
          live={live}
          onOpen={() => onOpen(field.identifier)}
        />
      ))}
    </ul>
  );
}

interface LatestValueProps {
  field: DeviceField;
  fetched: Latest | null;
  live: LiveValues;
  onOpen: () => void;
}

function LatestValue({ field, fetched, live, onOpen }: LatestValueProps) {
  const { identifier, name } = field;
  const shown = useLatest(identifier, fetched, live);
  const text = latestText(field, shown);
  return (
    <li>
      <a href={`#field-${identifier}`} onClick={onOpen}>
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

/** A value in the words of its field. */
export function latestText(field: DeviceField, latest: Latest | null): string {
  const place = field.type === 'GEOLOCATION' ? readPlace(latest?.value) : null;
  return place === null ? shownText(latest?.value, field) : placeText(place);
}
