import { useContext } from 'preact/hooks';
import { Icon } from '../../parts/icon.tsx';
import type { RuleField } from '../../rules/rules.graphql.ts';
import { DurationInput } from './duration-input.tsx';
import { type Ground, nameOf } from './ground.ts';
import { isWithin, MistakeContext, MistakeText } from '../../parts/mistake.tsx';
import { Pick } from '../../parts/pick.tsx';
import { PlaceParts } from './place-parts.tsx';
import { type ConditionDraft, type ConditionKind, newCondition } from './rule-draft.ts';
import { StateInput } from './state-input.tsx';
import { ThresholdParts } from './threshold-parts.tsx';
import { t } from '../../texts/texts.ts';

interface ConditionFormProps {
  ground: Ground;
  /** The part of the input that it is. */
  part: string;
  /** Place among those of its level, from 1. */
  number: number;
  condition: ConditionDraft;
  /** The device that the rule is tried on. */
  deviceId: string | null;
  onChange: (condition: ConditionDraft) => void;
  /** Left out: it is the only one. */
  onRemove?: (() => void) | undefined;
}

const KINDS: Record<ConditionKind, string> = {
  threshold: t('A value'),
  absent: t('Silence'),
  changed: t('A turn from one state to another'),
  place: t('A place'),
};

/** The parts of a condition that each kind shows. */
const SHOWN: Record<ConditionKind, readonly string[]> = {
  threshold: ['field', 'operator', 'value', 'otherField', 'configurationField', 'clear', 'window'],
  absent: ['field', 'absentSeconds'],
  changed: ['field', 'from', 'to'],
  place: ['field', 'operator', 'circle', 'polygon'],
};

const FITTING: Record<ConditionKind, (field: RuleField) => boolean> = {
  threshold: ({ type }) => type !== 'GEOLOCATION',
  absent: () => true,
  changed: ({ type }) => type === 'BOOLEAN' || type === 'STRING',
  place: ({ type }) => type === 'GEOLOCATION',
};

/** One condition of a level: what is watched, and when it is met. */
export function ConditionForm(props: ConditionFormProps) {
  const { ground, part, number, condition, deviceId, onChange, onRemove } = props;
  const { kind } = condition;
  const mistake = useContext(MistakeContext);
  const set = (more: Partial<ConditionDraft>): void => onChange({ ...condition, ...more });
  const fitting = ground.fields.filter(FITTING[kind]);
  const field = ground.fields.find(({ identifier }) => identifier === condition.field);
  const isElsewhere =
    mistake !== null &&
    isWithin(mistake.path, part) &&
    !SHOWN[kind].some((name) => isWithin(mistake.path, `${part}.${name}`));
  const kinds = (Object.keys(KINDS) as ConditionKind[]).filter(
    (one) => one === kind || one === 'absent' || ground.fields.some(FITTING[one]),
  );
  return (
    <fieldset class="condition">
      <legend class="unseen">Condition {number}</legend>
      <div class="condition-parts">
        <Pick
          label="Watch for"
          part={`${part}.kind`}
          value={kind}
          choices={kinds.map((one) => [one, KINDS[one]] as const)}
          onChange={(next) =>
            onChange(
              newCondition(
                field !== undefined && FITTING[next](field) ? field : ground.fields.find(FITTING[next]),
                next,
              ),
            )
          }
        />
        <Pick
          label={kind === 'absent' ? 'From' : 'Field'}
          part={`${part}.field`}
          value={condition.field}
          choices={[
            ...(kind === 'absent' ? [['', t('the whole device')] as const] : []),
            ...(field === undefined && kind !== 'absent' ? [[condition.field, condition.field] as const] : []),
            ...fitting.map((one) => [one.identifier, nameOf(one)] as const),
          ]}
          onChange={(identifier) => {
            const next = ground.fields.find((one) => one.identifier === identifier);
            // What was typed for numbers says nothing of a text.
            if (kind === 'absent' || next?.type === field?.type) set({ field: identifier });
            else onChange(newCondition(next, kind));
          }}
        />
        {kind === 'threshold' && (
          <ThresholdParts ground={ground} part={part} condition={condition} field={field} set={set} />
        )}
        {kind === 'absent' && (
          <DurationInput
            label="Silent for"
            part={`${part}.absentSeconds`}
            value={condition.silence}
            onChange={(silence) => set({ silence })}
          />
        )}
        {kind === 'changed' && (
          <>
            <StateInput
              label="From"
              part={`${part}.from`}
              field={field}
              value={condition.from}
              onChange={(from) => set({ from })}
            />
            <StateInput
              label="To"
              part={`${part}.to`}
              field={field}
              value={condition.to}
              onChange={(to) => set({ to })}
            />
          </>
        )}
        {kind === 'place' && <PlaceParts part={part} condition={condition} deviceId={deviceId} set={set} />}
      </div>
      {onRemove !== undefined && (
        <button type="button" class="quiet danger" aria-label={`Remove condition ${number}`} onClick={onRemove}>
          <Icon name="trash" />
        </button>
      )}
      {isElsewhere && <MistakeText why={mistake.why} />}
    </fieldset>
  );
}
