import type { Aggregation, ConfigurationType } from '../../api/schema-types.ts';
import { AGGREGATION_WORDS, OPERATOR_WORDS } from '../../rules/rule-words.ts';
import type { RuleField } from '../../rules/rules.graphql.ts';
import { DurationInput } from './duration-input.tsx';
import { type Ground, nameOf } from './ground.ts';
import { Pick, Typed } from '../../parts/pick.tsx';
import { type ConditionDraft, hasClear, operatorsOf } from './rule-draft.ts';
import { StateInput } from './state-input.tsx';
import { t } from '../../texts/texts.ts';

interface ThresholdPartsProps {
  ground: Ground;
  /** The part of the input that the condition is. */
  part: string;
  condition: ConditionDraft;
  field: RuleField | undefined;
  set: (more: Partial<ConditionDraft>) => void;
}

/** What a field is compared with, where that ends, and over which time. */
export function ThresholdParts({ ground, part, condition, field, set }: ThresholdPartsProps) {
  const { operator, against, aggregation } = condition;
  const operators = operatorsOf(field, aggregation);
  const isNumber = operators.includes('GT');
  const unit = isNumber && aggregation !== 'COUNT' ? (field?.unit ?? null) : null;
  const others = ground.fields.filter(
    (one) =>
      one.identifier !== field?.identifier &&
      operatorsOf(one, '').includes('GT') === isNumber &&
      (isNumber || one.type === field?.type),
  );
  const types: Record<string, ConfigurationType> = { BOOLEAN: 'BOOLEAN', STRING: 'STRING' };
  const wanted = isNumber ? 'NUMBER' : types[field?.type ?? ''];
  const configured = ground.configurationFields.filter(({ type }) => type === wanted);
  return (
    <>
      <Pick
        label="Is"
        part={`${part}.operator`}
        value={operators.includes(operator) ? operator : operators[0]!}
        choices={operators.map((one) => [one, OPERATOR_WORDS[one]] as const)}
        onChange={(next) => set({ operator: next })}
      />
      {(others.length > 0 || configured.length > 0) && (
        <Pick
          label="Compared with"
          part={`${part}.against`}
          value={against}
          choices={[
            ['value', t('a value')],
            ...(others.length > 0 || against === 'otherField' ? [['otherField', t('another field')] as const] : []),
            ...(configured.length > 0 || against === 'configurationField'
              ? [['configurationField', t('a setting of each device')] as const]
              : []),
          ]}
          onChange={(next) =>
            set({
              against: next,
              otherField: others[0]?.identifier ?? '',
              configurationField: configured[0]?.identifier ?? '',
            })
          }
        />
      )}
      {against === 'value' && (
        <StateInput
          label="Value"
          part={`${part}.value`}
          field={field}
          isNumber={isNumber}
          unit={unit}
          value={condition.value}
          onChange={(value) => set({ value })}
        />
      )}
      {against === 'otherField' && (
        <Pick
          label="Other field"
          part={`${part}.otherField`}
          value={condition.otherField}
          choices={others.map((one) => [one.identifier, nameOf(one)] as const)}
          onChange={(otherField) => set({ otherField })}
        />
      )}
      {against === 'configurationField' && (
        <Pick
          label="Setting"
          part={`${part}.configurationField`}
          value={condition.configurationField}
          choices={configured.map((one) => [one.identifier, nameOf(one)] as const)}
          onChange={(configurationField) => set({ configurationField })}
        />
      )}
      {hasClear(condition) && (
        <Typed
          label="Until"
          placeholder="the same"
          part={`${part}.clear`}
          unit={unit}
          isNumber
          value={condition.clear}
          onChange={(clear) => set({ clear })}
        />
      )}
      <Pick
        label="Taken from"
        part={`${part}.window.aggregation`}
        value={aggregation}
        choices={[
          ['', t('the newest value')],
          ...Object.entries(AGGREGATION_WORDS).map(
            ([one, text]) => [one as Aggregation, t('{text} of the last…', { text })] as const,
          ),
        ]}
        onChange={(next) =>
          set({
            aggregation: next,
            ...(condition.window.amount === '' ? { window: { amount: '10', unit: 'min' } } : {}),
          })
        }
      />
      {aggregation !== '' && (
        <DurationInput
          label="Of the last"
          part={`${part}.window.seconds`}
          value={condition.window}
          onChange={(window) => set({ window })}
        />
      )}
    </>
  );
}
