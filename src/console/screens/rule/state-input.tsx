import type { RuleField } from '../../rules/rules.graphql.ts';
import { Pick, Typed } from '../../parts/pick.tsx';
import { t } from '../../texts/texts.ts';

interface StateInputProps {
  label: string;
  part: string;
  field: RuleField | undefined;
  isNumber?: boolean;
  unit?: string | null;
  value: string;
  onChange: (value: string) => void;
}

/** A value of the field: for booleans a choice. Of a turn the empty one is any. */
export function StateInput({ label, part, field, isNumber = false, unit = null, value, onChange }: StateInputProps) {
  const isTurn = !part.endsWith('.value');
  if (field?.type !== 'BOOLEAN' || isNumber)
    return (
      <Typed
        label={isTurn ? `${label} (left out: any other)` : label}
        part={part}
        unit={unit}
        isNumber={isNumber}
        value={value}
        onChange={onChange}
      />
    );
  return (
    <Pick
      label={label}
      part={part}
      value={value}
      choices={[...(isTurn ? [['', t('any other')] as const] : []), ['true', 'true'], ['false', 'false']]}
      onChange={onChange}
    />
  );
}
