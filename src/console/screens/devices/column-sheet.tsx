import { useState } from 'preact/hooks';
import { setParameters } from '../../navigation/place.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { choicesOf, type Column, type ColumnProduct, MAX_COLUMNS } from './columns.ts';

interface ColumnSheetProps {
  columns: readonly Column[];
  products: readonly ColumnProduct[];
  onClose: () => void;
}

/** Asks which columns the list has. */
export function ColumnSheet({ columns, products, onClose }: ColumnSheetProps) {
  const [chosen, setChosen] = useState(columns.map(({ name }) => name));
  const groups = choicesOf(products).filter((group) => group.columns.length > 0);
  const toggle = (name: string): void =>
    setChosen(chosen.includes(name) ? chosen.filter((other) => other !== name) : [...chosen, name]);
  return (
    <Dialog title="Columns" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          setParameters({ columns: chosen.join(',') });
          onClose();
        }}
      >
        <p class="hint">At most {MAX_COLUMNS}, in the order in which they are chosen.</p>
        {groups.map(({ group, columns: some }) => (
          <fieldset key={group} class="columns">
            <legend>{group}</legend>
            {some.map(({ name, head }) => (
              <label key={name} class="check">
                <input
                  type="checkbox"
                  checked={chosen.includes(name)}
                  disabled={!chosen.includes(name) && chosen.length >= MAX_COLUMNS}
                  onChange={() => toggle(name)}
                />
                {head}
                {!/^:|^role:/.test(name) && head !== name && <small class="mono">{name}</small>}
              </label>
            ))}
          </fieldset>
        ))}
        <div class="actions">
          <button
            type="button"
            onClick={() => {
              setParameters({ columns: null });
              onClose();
            }}
          >
            The usual ones
          </button>
          <button type="submit" class="primary" disabled={chosen.length === 0}>
            Show
          </button>
        </div>
      </form>
    </Dialog>
  );
}
