import { useState } from 'preact/hooks';
import { Dialog } from '../../parts/dialog.tsx';
import type { ColumnProduct } from './columns.ts';
import { conditionText, readCondition, SIGNS, type ValueCondition } from './value-condition.ts';

interface ValueSheetProps {
  products: readonly ColumnProduct[];
  onClose: () => void;
  onAdd: (condition: ValueCondition) => void;
}

/** Asks for a comparison with the newest value of a field. */
export function ValueSheet({ products, onClose, onAdd }: ValueSheetProps) {
  const fields = [
    ...new Map(products.flatMap((product) => product.fields.map((field) => [field.identifier, field]))).values(),
  ].filter(({ type }) => type !== 'GEOLOCATION');
  const [field, setField] = useState(fields[0]?.identifier ?? '');
  const type = fields.find(({ identifier }) => identifier === field)?.type;
  const signs = SIGNS.filter(([sign]) => {
    if (sign === '=' || sign === '!=') return true;
    return type === 'STRING' ? sign === '~' : type !== 'BOOLEAN' && sign !== '~';
  });
  const [wanted, setSign] = useState('<');
  const sign = signs.find(([one]) => one === wanted)?.[0] ?? '=';
  const [text, setText] = useState('');
  const written = type === 'BOOLEAN' && text === '' ? 'true' : text;
  const condition = readCondition(`${field}${sign}${written}`);
  return (
    <Dialog title="Only devices whose newest value is …" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (condition !== null) onAdd(condition);
        }}
      >
        <label>
          Field
          <select value={field} onChange={(event) => setField(event.currentTarget.value)}>
            {fields.map(({ identifier, name }) => (
              <option key={identifier} value={identifier}>
                {name === null ? identifier : `${name} (${identifier})`}
              </option>
            ))}
          </select>
        </label>
        <div class="row comparison">
          <label>
            Comparison
            <select value={sign} onChange={(event) => setSign(event.currentTarget.value)}>
              {signs.map(([one, words]) => (
                <option key={one} value={one}>
                  {words}
                </option>
              ))}
            </select>
          </label>
          <label>
            Value
            {type === 'BOOLEAN' ? (
              <select value={written} onChange={(event) => setText(event.currentTarget.value)}>
                <option value="true">true</option>
                <option value="false">false</option>
              </select>
            ) : (
              <input value={text} onInput={(event) => setText(event.currentTarget.value)} />
            )}
          </label>
        </div>
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            class="primary"
            disabled={condition === null}
            title={condition ? conditionText(condition) : undefined}
          >
            Filter
          </button>
        </div>
      </form>
    </Dialog>
  );
}
