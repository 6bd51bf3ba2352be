import { Icon } from '../../parts/icon.tsx';

interface RowChangesProps {
  /** Name of the row. */
  name: string;
  onChange: () => void;
  onRemove: () => void;
}

/** The buttons of a field's row: change, remove. */
export function RowChanges({ name, onChange, onRemove }: RowChangesProps) {
  return (
    <div class="row field-changes">
      <button type="button" class="quiet" aria-label={`Change ${name}`} onClick={onChange}>
        <Icon name="pencil" />
      </button>
      <button type="button" class="quiet danger" aria-label={`Remove ${name}`} onClick={onRemove}>
        <Icon name="trash" />
      </button>
    </div>
  );
}
