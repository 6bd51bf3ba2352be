import { useId } from 'preact/hooks';
import { useMistake } from '../../parts/mistake.tsx';
import { DAYS, newSchedule, type RuleDraft } from './rule-draft.ts';
import { t } from '../../texts/texts.ts';

const DAY_NAMES = [t('Mon'), t('Tue'), t('Wed'), t('Thu'), t('Fri'), t('Sat'), t('Sun')] as const;
const ZONES = Intl.supportedValuesOf('timeZone');

interface ScheduleFormProps {
  schedule: RuleDraft['schedule'];
  /** The zone of the product; null: it has none. */
  timeZone: string | null;
  onChange: (schedule: RuleDraft['schedule']) => void;
}

/** The weekdays and hours at which a rule may tell somebody. */
export function ScheduleForm({ schedule, timeZone, onChange }: ScheduleFormProps) {
  const zones = useId();
  const days = useMistake('input.schedule.days');
  const hours = useMistake('input.schedule.hours');
  const zone = useMistake('input.schedule.timeZone');
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          checked={schedule !== null}
          onChange={() => onChange(schedule === null ? newSchedule(timeZone) : null)}
        />
        Only at certain times
      </label>
      {schedule !== null && (
        <>
          <fieldset class="row days">
            <legend class="unseen">Days</legend>
            {DAYS.map((day, at) => (
              <label key={day} class="check">
                <input
                  type="checkbox"
                  checked={schedule.days.includes(day)}
                  onChange={() =>
                    onChange({
                      ...schedule,
                      days: DAYS.filter((one) => (one === day) !== schedule.days.includes(one)),
                    })
                  }
                />
                {DAY_NAMES[at]}
              </label>
            ))}
          </fieldset>
          {days.told}
          <div class="condition-parts">
            <label>
              From
              <input
                type="time"
                value={schedule.from}
                onInput={(event) => onChange({ ...schedule, from: event.currentTarget.value })}
                {...hours.marks}
              />
            </label>
            <label>
              To
              <input
                type="time"
                value={schedule.to}
                onInput={(event) => onChange({ ...schedule, to: event.currentTarget.value })}
                {...hours.marks}
              />
              {hours.told}
            </label>
            <label>
              Time zone
              <input
                list={zones}
                value={schedule.timeZone}
                onInput={(event) => onChange({ ...schedule, timeZone: event.currentTarget.value })}
                {...zone.marks}
              />
              <datalist id={zones}>
                {ZONES.map((one) => (
                  <option key={one} value={one} />
                ))}
              </datalist>
              {zone.told}
            </label>
          </div>
          <p class="hint">
            Outside of them nothing is told; what still fires when they begin is told then. Both times left out: the
            whole day.
          </p>
        </>
      )}
    </>
  );
}
