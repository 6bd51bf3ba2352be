import { useId, useState } from 'preact/hooks';
import { FieldSheet } from '../../fields/field-sheet.tsx';
import { cellsOf } from './record-ends.ts';
import type { FileHead } from './file-head.ts';
import { type ColumnUse, newFieldOf, ROLES, typeOf } from './guess-columns.ts';

/** First lines shown. */
const SHOWN = 5;
const NEW = '+';

interface KnownField {
  identifier: string;
  name: string | null;
  unit: string | null;
}

interface ColumnsCardProps {
  head: FileHead;
  uses: readonly ColumnUse[];
  fields: readonly KnownField[];
  /** The product that gets new fields; null: none is known. */
  productId: string | null;
  timeZone: string;
  isBusy: boolean;
  onUse: (column: number, use: ColumnUse) => void;
  onTimeZone: (zone: string) => void;
  onField: () => void;
}

/** The first lines as they stand in the file, with a choice over each column, and the zone of the times. */
export function ColumnsCard(props: ColumnsCardProps) {
  const { head, uses, fields, productId, timeZone, isBusy, onUse, onTimeZone, onField } = props;
  const [added, setAdded] = useState<number | null>(null);
  const zones = useId();
  const rows = firstCells(head);
  const columnCells = (column: number): string[] => rows.map((row) => row[column] ?? '');
  return (
    <section class="card stack" aria-labelledby="import-columns">
      <div class="card-head">
        <h2 id="import-columns" class="grow">
          3. What the columns are
        </h2>
        <label class="zone">
          Zone of times without one
          <input
            list={zones}
            value={timeZone}
            disabled={isBusy}
            spellcheck={false}
            onChange={(event) => onTimeZone(event.currentTarget.value.trim())}
          />
          <datalist id={zones}>
            {Intl.supportedValuesOf('timeZone').map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </label>
      </div>
      <div class="scroll-x" role="region" aria-label="First lines of the file" tabIndex={0}>
        <table class="raw-lines">
          <thead>
            <tr>
              {head.headings.map((heading, column) => (
                <th key={column} data-used={uses[column] !== ''}>
                  <div class="column-head">
                    <span class="mono">{heading === '' ? `column ${column + 1}` : heading}</span>
                    <select
                      aria-label={`What ${heading === '' ? `column ${column + 1}` : heading} is`}
                      value={uses[column] ?? ''}
                      disabled={isBusy}
                      onChange={(event) => {
                        const use = event.currentTarget.value;
                        if (use === NEW) {
                          event.currentTarget.value = uses[column] ?? '';
                          setAdded(column);
                        } else onUse(column, use);
                      }}
                    >
                      <option value="">Leave out</option>
                      {ROLES.map(({ role, text }) => (
                        <option key={role} value={role}>
                          {text}
                        </option>
                      ))}
                      {fields.length > 0 && (
                        <optgroup label="Field">
                          {fields.map(({ identifier, name, unit }) => (
                            <option key={identifier} value={identifier}>
                              {name ?? identifier}
                              {unit !== null && ` (${unit})`}
                            </option>
                          ))}
                        </optgroup>
                      )}
                      {productId !== null && <option value={NEW}>New field…</option>}
                    </select>
                  </div>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={at}>
                {head.headings.map((_, column) => (
                  <td key={column} class="mono" data-used={uses[column] !== ''}>
                    {row[column]}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {added !== null && productId !== null && (
        <FieldSheet
          productId={productId}
          field={null}
          suggested={{ ...newFieldOf(head.headings[added] ?? ''), type: typeOf(columnCells(added)) }}
          onClose={() => setAdded(null)}
          onSaved={(identifier) => {
            onUse(added, identifier);
            onField();
          }}
        />
      )}
    </section>
  );
}

/** The cells of the first lines, by the headings. */
export function firstCells({ kind, delimiter, headings, records }: FileHead): string[][] {
  const filled = records.filter((record) => record.trim() !== '').slice(0, SHOWN);
  if (kind === 'csv') return filled.map((record) => cellsOf(record, delimiter));
  return filled.map((record) => {
    const object = jsonIn(record);
    return headings.map((key) => (object[key] === undefined ? '' : textOf(object[key])));
  });
}

function jsonIn(record: string): Record<string, unknown> {
  try {
    return (JSON.parse(record) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
