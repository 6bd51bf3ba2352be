import type { Severity } from '../../api/schema-types.ts';
import { Icon } from '../../parts/icon.tsx';
import { SEVERITIES } from '../../rules/severity.tsx';
import { ConditionForm } from './condition-form.tsx';
import { DurationInput } from './duration-input.tsx';
import type { Ground } from './ground.ts';
import { useMistake } from '../../parts/mistake.tsx';
import { Pick, Typed } from '../../parts/pick.tsx';
import { type NamedEndpoint, NotifyForm } from './notify-form.tsx';
import { type LevelDraft, newCondition, type RuleDraft } from './rule-draft.ts';
import { ScheduleForm } from './schedule-form.tsx';
import { t } from '../../texts/texts.ts';

const MAX_CONDITIONS = 10;
const NAMES = Object.entries(SEVERITIES) as [Severity, string][];

interface RuleFormProps {
  ground: Ground;
  /** The zone of the product; null: it has none. */
  timeZone: string | null;
  draft: RuleDraft;
  /** The endpoints of the workspace. */
  endpoints: readonly NamedEndpoint[];
  /** The device that the rule is tried on. */
  deviceId: string | null;
  onChange: (draft: RuleDraft) => void;
  /** Called with the condition that somebody works on. */
  onFocus: (level: number, condition: number) => void;
}

/** What a rule watches, for how long, and when it is told. */
export function RuleForm({ ground, timeZone, draft, endpoints, deviceId, onChange, onFocus }: RuleFormProps) {
  const { levels } = draft;
  const set = (more: Partial<RuleDraft>): void => onChange({ ...draft, ...more });
  const setLevel = (at: number, level: LevelDraft): void => set({ levels: levels.with(at, level) });
  const unused = NAMES.filter(([severity]) => levels.every((level) => level.severity !== severity));
  return (
    <>
      <section class="card padded stack" aria-labelledby="what-title">
        <h2 id="what-title">What is watched</h2>
        <Typed
          label="Name"
          part="input.name"
          required
          maxLength={200}
          placeholder="such as Freezer too warm"
          value={draft.name}
          onChange={(name) => set({ name })}
        />
        {levels.map((level, at) => (
          <LevelForm
            key={at}
            ground={ground}
            at={at}
            level={level}
            deviceId={deviceId}
            severities={NAMES.filter((one) => one[0] === level.severity || unused.includes(one))}
            onChange={(next) => setLevel(at, next)}
            onFocus={(condition) => onFocus(at, condition)}
            onRemove={levels.length === 1 ? undefined : () => set({ levels: levels.toSpliced(at, 1) })}
          />
        ))}
        {unused.length > 0 && (
          <div>
            <button
              type="button"
              onClick={() => set({ levels: [...levels, { ...levels.at(-1)!, severity: unused.at(-1)![0] }] })}
            >
              <Icon name="plus" /> Add a level
            </button>
          </div>
        )}
      </section>
      <section class="card padded stack" aria-labelledby="how-title">
        <h2 id="how-title">When it counts</h2>
        <div class="condition-parts">
          <DurationInput
            label="Told when it lasts for"
            part="input.forSeconds"
            value={draft.lasts}
            onChange={(lasts) => set({ lasts })}
          />
          <DurationInput
            label="Over when it has passed for"
            part="input.clearForSeconds"
            value={draft.clears}
            onChange={(clears) => set({ clears })}
          />
        </div>
        <Typed
          label="Only devices with these tags"
          part="input.tags"
          placeholder="kitchen, cold"
          hint="With all of them, separated by commas; left out: every device of the product."
          value={draft.tags}
          onChange={(tags) => set({ tags })}
        />
        <label class="check">
          <input type="checkbox" checked={draft.latched} onChange={() => set({ latched: !draft.latched })} />
          Stays until somebody acknowledges it
        </label>
        <label class="check">
          <input type="checkbox" checked={draft.enabled} onChange={() => set({ enabled: !draft.enabled })} />
          On
        </label>
      </section>
      <section class="card padded stack" aria-labelledby="told-title">
        <h2 id="told-title">Who is told, and when</h2>
        {draft.notify !== null && (
          <NotifyForm notify={draft.notify} endpoints={endpoints} onChange={(notify) => set({ notify })} />
        )}
        <ScheduleForm schedule={draft.schedule} timeZone={timeZone} onChange={(schedule) => set({ schedule })} />
      </section>
    </>
  );
}

interface LevelFormProps {
  ground: Ground;
  at: number;
  level: LevelDraft;
  deviceId: string | null;
  severities: readonly (readonly [Severity, string])[];
  onChange: (level: LevelDraft) => void;
  onFocus: (condition: number) => void;
  onRemove?: (() => void) | undefined;
}

function LevelForm({ ground, at, level, deviceId, severities, onChange, onFocus, onRemove }: LevelFormProps) {
  const { severity, isAll, conditions } = level;
  const part = `input.levels[${at}]`;
  const { told } = useMistake(`${part}.${isAll ? 'any' : 'all'}`);
  return (
    <fieldset class="level stack" data-severity={severity}>
      <legend class="unseen">{SEVERITIES[severity]}</legend>
      <div class="row level-head">
        <Pick
          label="Level"
          part={`${part}.severity`}
          value={severity}
          choices={severities}
          onChange={(next) => onChange({ ...level, severity: next })}
        />
        {conditions.length > 1 && (
          <Pick
            label="When"
            part={`${part}.joined`}
            value={isAll ? 'all' : 'any'}
            choices={[
              ['any', t('at least one holds')],
              ['all', t('all hold')],
            ]}
            onChange={(next) => onChange({ ...level, isAll: next === 'all' })}
          />
        )}
        <span class="grow" />
        {onRemove !== undefined && (
          <button type="button" class="quiet danger" onClick={onRemove}>
            <Icon name="trash" /> Remove level
          </button>
        )}
      </div>
      {conditions.map((condition, index) => (
        <div key={index} onFocusCapture={() => onFocus(index)}>
          <ConditionForm
            ground={ground}
            part={`${part}.${isAll ? 'all' : 'any'}[${index}]`}
            number={index + 1}
            condition={condition}
            deviceId={deviceId}
            onChange={(next) => onChange({ ...level, conditions: conditions.with(index, next) })}
            onRemove={
              conditions.length === 1
                ? undefined
                : () => onChange({ ...level, conditions: conditions.toSpliced(index, 1) })
            }
          />
        </div>
      ))}
      {told}
      {conditions.length < MAX_CONDITIONS && (
        <div class="row">
          <button
            type="button"
            onClick={() => onChange({ ...level, conditions: [...conditions, newCondition(ground.fields[0])] })}
          >
            <Icon name="plus" /> Add a condition
          </button>
          {conditions.every(({ kind }) => kind !== 'absent') && (
            <button
              type="button"
              onClick={() => onChange({ ...level, conditions: [...conditions, newCondition(undefined, 'absent')] })}
            >
              <Icon name="plus" /> {isAll && conditions.length > 1 ? 'And' : 'Or'} says nothing
            </button>
          )}
        </div>
      )}
    </fieldset>
  );
}
