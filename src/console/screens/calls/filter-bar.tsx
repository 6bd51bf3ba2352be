import { setParameters, usePlace } from '../../navigation/place.ts';
import type { CallStatus } from '../../api/schema-types.ts';
import { CALL_STATUSES } from '../../decoding/call-status.tsx';
import { PeriodInputs } from '../../parts/period-inputs.tsx';
import type { CallFilter } from './call-filter.ts';

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
      <div class="row" role="group" aria-label="Outcome">
        {CALL_STATUSES.map(({ status, text }) => (
          <button
            key={status}
            type="button"
            class="toggle"
            aria-pressed={filter.statuses.includes(status)}
            onClick={() => toggle(status)}
          >
            {text}
          </button>
        ))}
      </div>
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
      <PeriodInputs from={filter.from} to={filter.to} />
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
