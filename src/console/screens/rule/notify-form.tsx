import { href } from '../../navigation/place.ts';
import { useMistake } from '../../parts/mistake.tsx';
import { Typed } from '../../parts/pick.tsx';
import { DurationInput } from './duration-input.tsx';
import type { NotifyDraft } from './rule-draft.ts';
import { t } from '../../texts/texts.ts';

/** An endpoint that a rule may name. */
export interface NamedEndpoint {
  id: string;
  name: string;
  enabled: boolean;
}

interface NotifyFormProps {
  notify: NotifyDraft;
  endpoints: readonly NamedEndpoint[];
  onChange: (notify: NotifyDraft) => void;
}

/** Whom a rule tells, how often, and whether of many devices at once. */
export function NotifyForm({ notify, endpoints, onChange }: NotifyFormProps) {
  const { told } = useMistake('input.notify.endpointIds');
  const { endpoints: chosen } = notify;
  const set = (more: Partial<NotifyDraft>): void => onChange({ ...notify, ...more });
  return (
    <>
      <fieldset class="told">
        <legend class="unseen">Endpoints</legend>
        {endpoints.map(({ id, name, enabled }) => (
          <label key={id} class="check">
            <input
              type="checkbox"
              checked={chosen.includes(id)}
              onChange={() =>
                set({ endpoints: chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id] })
              }
            />
            {name} {!enabled && <small>off</small>}
          </label>
        ))}
        <p class="hint">
          {endpoints.length === 0 ? (
            <>
              There is no <a href={href('/endpoints')}>endpoint</a> yet: alerts are shown here, and nobody is told.
            </>
          ) : chosen.length === 0 ? (
            t('None chosen: every endpoint that wants alerts.')
          ) : (
            t('These alone.')
          )}
        </p>
        {told}
      </fieldset>
      <div class="condition-parts">
        <DurationInput
          label="Remind every (left out: never)"
          part="input.notify.remindEverySeconds"
          value={notify.reminds}
          onChange={(reminds) => set({ reminds })}
        />
        {notify.reminds.amount !== '' && (
          <Typed
            label="Reminders at most"
            part="input.notify.maxReminders"
            isNumber
            placeholder="any number"
            value={notify.most}
            onChange={(most) => set({ most })}
          />
        )}
      </div>
      <label class="check">
        <input type="checkbox" checked={notify.isGrouped} onChange={() => set({ isGrouped: !notify.isGrouped })} />
        Many devices at one moment are one message
      </label>
    </>
  );
}
