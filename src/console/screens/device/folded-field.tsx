import { shownColor } from '../../fields/display.ts';
import { Icon } from '../../parts/icon.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import type { DeviceField } from './device.graphql.ts';
import { latestText } from './latest-values.tsx';
import type { LiveValues } from './live-values.ts';
import { type Latest, useLatest } from './use-latest.ts';

interface FoldedFieldProps {
  field: DeviceField;
  latest: Latest | null;
  live: LiveValues;
  onOpen: () => void;
}

/** A field whose chart is folded, with its latest value. */
export function FoldedField({ field, latest, live, onOpen }: FoldedFieldProps) {
  const { identifier, name } = field;
  const shown = useLatest(identifier, latest, live);
  return (
    <section class="card folded-field" id={`field-${identifier}`} aria-label={name ?? identifier}>
      <button type="button" class="quiet" aria-expanded="false" onClick={onOpen}>
        <Icon name="next" />
        <span class="folded-name">{name ?? identifier}</span>
        <strong data-color={shownColor(shown?.value, field) ?? undefined}>{latestText(field, shown)}</strong>
        <small>
          <TimeAgo at={shown?.timestamp ?? null} />
        </small>
      </button>
    </section>
  );
}
