import { useState } from 'preact/hooks';
import { Icon } from '../../parts/icon.tsx';
import { textsOf } from '../../parts/form-texts.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { rangeText, timeFormat } from '../../parts/time-text.ts';
import { Note } from '../../parts/note.tsx';
import { moved, ownRange, scaled } from '../../time/time-range.ts';
import { localTime, readLocalTime, timeOf, zoneName } from '../../time/local-time.ts';
import { type ShownRange, SPAN_NAMES } from './use-range.ts';
import { t } from '../../texts/texts.ts';

const KEPT = { dateStyle: 'medium' } as const;
const NAMES = { hour: t('Hour'), day: t('Day'), week: t('Week'), month: t('Month'), year: t('Year') };

interface RangeBarProps {
  range: ShownRange;
  /** The time (ms) before which values are no longer kept; null: all are kept. */
  keptFrom: number | null;
}

/** Chooses and moves the range of time, and shows the zone of its times. */
export function RangeBar({ range, keptFrom }: RangeBarProps) {
  const [isAsking, setAsking] = useState(false);
  const { fetched, shown } = range;
  const view = { ...shown, name: fetched.name };
  return (
    <div class="range-bar" role="group" aria-label="Time range">
      <div class="tabs">
        {SPAN_NAMES.map((name) => (
          <button key={name} type="button" aria-pressed={fetched.name === name} onClick={() => range.choose(name)}>
            {NAMES[name]}
          </button>
        ))}
        <button type="button" aria-pressed={fetched.name === 'own'} onClick={() => setAsking(true)}>
          Custom…
        </button>
      </div>
      <div class="row steps">
        <button type="button" class="quiet" aria-label="Earlier" onClick={() => range.chooseOwn(moved(view, -0.5))}>
          <Icon name="back" />
        </button>
        <button type="button" class="quiet" aria-label="Later" onClick={() => range.chooseOwn(moved(view, 0.5))}>
          <Icon name="next" />
        </button>
        <button
          type="button"
          class="quiet"
          aria-label="Zoom in"
          onClick={() => {
            const { from, to } = scaled(view, 0.5);
            range.zoom(Date.parse(from), Date.parse(to));
          }}
        >
          <Icon name="plus" />
        </button>
        <button type="button" class="quiet" aria-label="Zoom out" onClick={() => range.chooseOwn(scaled(view, 2))}>
          <Icon name="minus" />
        </button>
        {fetched.name === 'own' && (
          <button type="button" class="quiet" onClick={range.back}>
            Back
          </button>
        )}
      </div>
      <span class="hint span">
        {rangeText(shown.from, shown.to)} · {zoneName()}
        {keptFrom !== null && keptFrom > shown.from && ` · kept since ${timeFormat(KEPT).format(keptFrom)}`}
      </span>
      {isAsking && (
        <OwnRange
          from={shown.from}
          to={shown.to}
          onClose={() => setAsking(false)}
          onChosen={(from, to) => {
            range.chooseOwn(ownRange(from, to));
            setAsking(false);
          }}
        />
      )}
    </div>
  );
}

interface OwnRangeProps {
  from: number;
  to: number;
  onClose: () => void;
  onChosen: (from: number, to: number) => void;
}

function OwnRange({ from, to, onClose, onChosen }: OwnRangeProps) {
  const [mistake, setMistake] = useState<string | null>(null);
  return (
    <Dialog title="Custom range" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          const text = textsOf(event.currentTarget);
          const [start, end] = [timeOf(readLocalTime(text('from'))), timeOf(readLocalTime(text('to')))];
          if (start !== null && end !== null && start < end) onChosen(start, end);
          else setMistake(t('The range must begin before it ends.'));
        }}
      >
        <label>
          From
          <input name="from" type="datetime-local" required defaultValue={localTime(from)} />
        </label>
        <label>
          To
          <input name="to" type="datetime-local" required defaultValue={localTime(to)} />
        </label>
        <p class="hint">Times are those of {zoneName()}.</p>
        {mistake !== null && <Note kind="error">{mistake}</Note>}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Show
          </button>
        </div>
      </form>
    </Dialog>
  );
}
