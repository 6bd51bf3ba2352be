import type { ComponentChildren } from 'preact';
import { Icon } from '../../parts/icon.tsx';
import type { FieldCardProps } from './field-card.ts';
import { isNumeric } from './use-charts.ts';

interface FieldHeadProps extends Pick<FieldCardProps, 'field' | 'fields' | 'paired' | 'onPair' | 'onFold'> {
  /** Said beside the name, such as what the buckets show; null: nothing. */
  chip: string | null;
  children: ComponentChildren;
}

/** The head of an open field: folds it, and chooses a second field for its chart. */
export function FieldHead({ field, fields, paired, onPair, onFold, chip, children }: FieldHeadProps) {
  const { identifier, name, description } = field;
  const title = name ?? identifier;
  const others = isNumeric(field) ? fields.filter((one) => isNumeric(one) && one.identifier !== identifier) : [];
  return (
    <header class="card-head">
      <button type="button" class="quiet fold" aria-expanded="true" aria-label={`Fold ${title}`} onClick={onFold}>
        <Icon name="next" />
      </button>
      <h2 title={description ?? identifier}>{title}</h2>
      {chip !== null && <span class="chip">{chip}</span>}
      {others.length > 0 && (
        <select
          class="pair"
          aria-label={`Second field in ${title}`}
          title="A second field in this chart"
          value={paired ?? ''}
          onChange={({ currentTarget }) => onPair(currentTarget.value === '' ? null : currentTarget.value)}
        >
          <option value="">+ field</option>
          {others.map((other) => (
            <option key={other.identifier} value={other.identifier}>
              {other.name ?? other.identifier}
            </option>
          ))}
        </select>
      )}
      <span class="grow" />
      {children}
    </header>
  );
}
