import { useStore } from '../api/store.ts';
import { Dialog } from '../parts/dialog.tsx';
import { pickWithKeys } from '../parts/pick-with-keys.ts';
import { dateTimeText } from '../parts/time-text.ts';
import { browserZone, chooseReader, CLOCKS, reader } from '../time/reader.ts';
import { chooseLanguage, LANGUAGE, LANGUAGES } from '../texts/languages.ts';
import { t } from '../texts/texts.ts';

const CLOCK_WORDS = { auto: t('as the browser has it'), 24: '24 hours', 12: '12 hours' } as const;
const ZONES = Intl.supportedValuesOf('timeZone');

/** Chooses the zone and the clock in which this browser shows times; they hold at once. */
export function ReaderDialog({ onClose }: { onClose: () => void }) {
  const { zone, clock } = useStore(reader);
  return (
    <Dialog title="Language and times" onClose={onClose}>
      <label>
        Language
        <select
          value={LANGUAGE}
          onKeyDown={pickWithKeys}
          onChange={({ currentTarget: { value } }) => chooseLanguage(value)}
        >
          {Object.entries(LANGUAGES).map(([tag, { name }]) => (
            <option key={tag} value={tag} lang={tag}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        Time zone
        <select
          autofocus
          value={zone ?? ''}
          onKeyDown={pickWithKeys}
          onChange={({ currentTarget: { value } }) => chooseReader({ zone: value === '' ? null : value })}
        >
          <option value="">that of this browser, {browserZone()}</option>
          {ZONES.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        Clock
        <select
          value={clock}
          onKeyDown={pickWithKeys}
          onChange={({ currentTarget: { value } }) =>
            chooseReader({ clock: CLOCKS.find((one) => one === value) ?? 'auto' })
          }
        >
          {CLOCKS.map((one) => (
            <option key={one} value={one}>
              {CLOCK_WORDS[one]}
            </option>
          ))}
        </select>
      </label>
      <p class="hint">
        Now it is {dateTimeText(Date.now())}. Times are shown and typed like this everywhere in this browser; days,
        weeks and months of charts begin in this zone.
      </p>
      <div class="actions">
        <button type="button" class="primary" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
