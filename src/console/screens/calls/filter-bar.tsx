import { setParameters, usePlace } from '../../navigation/place.ts';
import type { CallStatus } from '../../api/schema-types.ts';
import { CALL_STATUSES, statusText } from '../../decoding/call-status.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { PeriodInputs } from '../../parts/period-inputs.tsx';
import { dateTimeText } from '../../parts/time-text.ts';
import type { CallFilter } from './call-filter.ts';
import { t } from '../../texts/texts.ts';

/** The filter of the call log, kept in the address. */
export function FilterBar({ filter }: { filter: CallFilter }) {
  const { query } = usePlace();
  const toggle = (status: CallStatus): void => {
    const isOn = filter.statuses.includes(status);
    const next = isOn ? filter.statuses.filter((one) => one !== status) : [...filter.statuses, status];
    setParameters({ status: next.join(',') });
  };
  const isNarrowed = ['status', 'from', 'to', 'text', 'device'].some((name) => query.has(name));
  return (
    <div class="call-filter" role="group" aria-label="Which calls are shown">
      <label>
        Text
        <input
          type="search"
          value={query.get('text') ?? ''}
          onInput={(event) => setParameters({ text: event.currentTarget.value })}
        />
      </label>
      <label>
        Device
        <input
          type="search"
          value={query.get('device') ?? ''}
          onInput={(event) => setParameters({ device: event.currentTarget.value })}
        />
      </label>
      <Menu label={`Outcome: ${outcomesText(filter.statuses)}`} class="boxed" button={outcomesText(filter.statuses)}>
        <div role="group" aria-label="Outcome">
          {CALL_STATUSES.map(({ status, text }) => (
            <button
              key={status}
              type="button"
              data-stays
              aria-pressed={filter.statuses.includes(status)}
              onClick={() => toggle(status)}
            >
              <Icon name={filter.statuses.includes(status) ? 'check' : 'none'} /> {text}
            </button>
          ))}
        </div>
      </Menu>
      <Menu label={`Time: ${periodText(filter)}`} class="boxed" button={periodText(filter)}>
        <div class="stack call-period">
          <PeriodInputs from={filter.from} to={filter.to} />
        </div>
      </Menu>
      {isNarrowed && (
        <button
          type="button"
          class="quiet"
          onClick={() => setParameters({ status: null, from: null, to: null, text: null, device: null })}
        >
          Show all
        </button>
      )}
    </div>
  );
}

function outcomesText(statuses: readonly CallStatus[]): string {
  if (statuses.length === 0) return t('Any outcome');
  const [first] = statuses;
  return `${first === undefined ? '' : statusText(first)}${statuses.length > 1 ? ` +${statuses.length - 1}` : ''}`;
}

function periodText({ from, to }: CallFilter): string {
  if (from === null && to === null) return t('Any time');
  if (to === null) return t('From {dateTimeText}', { dateTimeText: dateTimeText(new Date(from ?? 0)) });
  return from === null
    ? t('Up to {dateTimeText}', { dateTimeText: dateTimeText(new Date(to)) })
    : t('Since {dateTimeText}, up to an end', { dateTimeText: dateTimeText(new Date(from)) });
}
