import { Icon } from '../../parts/icon.tsx';

interface RowChangesProps {
  /** What the row is called. */
  name: string;
  onChange: () => void;
  onRemove: () => void;
}

/** What can be done with a row of a product's fields: change it, remove it. */
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
