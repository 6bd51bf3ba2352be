import { setParameters, usePlace } from '../../navigation/place.ts';
import type { CallStatus } from '../../api/schema-types.ts';
import { CALL_STATUSES } from '../../decoding/call-status.tsx';
import { localTime } from '../../time/local-time.ts';
import type { CallFilter } from './call-filter.ts';

/** The filter of the call log, kept in the address. */
export function FilterBar({ filter }: { filter: CallFilter }) {
  const { query } = usePlace();
  const toggle = (status: CallStatus): void => {
    const isOn = filter.statuses.includes(status);
    const next = isOn ? filter.statuses.filter((one) => one !== status) : [...filter.statuses, status];
    setParameters({ status: next.join(',') });
  };
  const onTime = (name: 'from' | 'to', text: string): void =>
    setParameters({ [name]: text === '' ? null : new Date(text).toISOString() });
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
      <label>
        From
        <input
          type="datetime-local"
          value={filter.from === null ? '' : localTime(filter.from)}
          onChange={(event) => onTime('from', event.currentTarget.value)}
        />
      </label>
      <label>
        To
        <input
          type="datetime-local"
          value={filter.to === null ? '' : localTime(filter.to)}
          onChange={(event) => onTime('to', event.currentTarget.value)}
        />
      </label>
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
