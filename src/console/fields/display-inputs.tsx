import { useState } from 'preact/hooks';
import type { FieldType } from '../api/schema-types.ts';
import { Icon } from '../parts/icon.tsx';
import { type Display, displayOf, type Word, WORD_COLORS, type WordColor } from './display.ts';
import './display-inputs.css';

/** A row of the form: a value as it is typed, with its text and colour. */
interface TypedWord {
  value: string;
  text: string;
  color: WordColor | '';
}

/** The form's state; `words` as they are typed. */
interface TypedDisplay {
  decimals: string;
  low: string;
  high: string;
  words: readonly TypedWord[];
}

const MAX_WORDS = 40;
const NUMBER = { type: 'number', step: 'any' } as const;
const TEXT = { type: 'text', list: undefined } as const;
const BOOLEANS = ['true', 'false'];

/** A field's display as its form has it. */
export function typedDisplay(display: unknown): TypedDisplay {
  const { decimals, low, high, words = [] } = displayOf({ display });
  const text = (value: number | undefined): string => (value === undefined ? '' : String(value));
  return {
    decimals: text(decimals),
    low: text(low),
    high: text(high),
    words: words.map((word) => ({ value: String(word.value), text: word.text ?? '', color: word.color ?? '' })),
  };
}

/** The display that was typed, for the API; null: nothing. Rows without text and colour are left out. */
export function displayFrom({ decimals, low, high, words }: TypedDisplay, type: FieldType): Display | null {
  const isNumber = type === 'FLOAT' || type === 'INTEGER';
  const number = (name: 'decimals' | 'low' | 'high', text: string): Display =>
    isNumber && text.trim() !== '' ? { [name]: Number(text) } : {};
  const said = type === 'GEOLOCATION' ? [] : rowsOf(words, type).filter(({ text, color }) => text + color !== '');
  const display: Display = {
    ...number('decimals', decimals),
    ...number('low', low),
    ...number('high', high),
    ...(said.length === 0 ? {} : { words: said.map((word) => wordOf(word, type)) }),
  };
  return Object.keys(display).length === 0 ? null : display;
}

function wordOf({ value, text, color }: TypedWord, type: FieldType): Word {
  return {
    value: type === 'BOOLEAN' ? value === 'true' : type === 'STRING' ? value : Number(value),
    ...(text.trim() === '' ? {} : { text: text.trim() }),
    ...(color === '' ? {} : { color }),
  };
}

/** The rows of the form: of true and false always both. */
function rowsOf(words: readonly TypedWord[], type: FieldType): readonly TypedWord[] {
  if (type !== 'BOOLEAN') return words;
  return BOOLEANS.map((value) => words.find((word) => word.value === value) ?? { value, text: '', color: '' });
}

interface DisplayInputsProps {
  type: FieldType;
  typed: TypedDisplay;
  onTyped: (typed: TypedDisplay) => void;
}

/** How people read the values of a field: decimals, bounds, and texts and colours of single values. */
export function DisplayInputs({ type, typed, onTyped }: DisplayInputsProps) {
  const [wasOpen] = useState(() => displayFrom(typed, type) !== null);
  if (type === 'GEOLOCATION') return null;
  const isNumber = type === 'FLOAT' || type === 'INTEGER';
  const rows = rowsOf(typed.words, type);
  const change = (at: number, by: Partial<TypedWord>): void =>
    onTyped({ ...typed, words: rows.map((row, index) => (index === at ? { ...row, ...by } : row)) });
  return (
    <details class="display-inputs" open={wasOpen}>
      <summary>How values look</summary>
      <div class="stack">
        {isNumber && (
          <div class="row three">
            <label>
              Decimals
              <input
                type="number"
                min="0"
                max="10"
                step="1"
                placeholder="as measured"
                value={typed.decimals}
                onInput={({ currentTarget }) => onTyped({ ...typed, decimals: currentTarget.value })}
              />
            </label>
            <label>
              Low below
              <input
                type="number"
                step="any"
                value={typed.low}
                onInput={({ currentTarget }) => onTyped({ ...typed, low: currentTarget.value })}
              />
            </label>
            <label>
              High above
              <input
                type="number"
                step="any"
                value={typed.high}
                onInput={({ currentTarget }) => onTyped({ ...typed, high: currentTarget.value })}
              />
            </label>
          </div>
        )}
        {rows.map((row, at) => (
          <fieldset key={at} class="row word" aria-label={`Words of ${row.value === '' ? 'a value' : row.value}`}>
            {type === 'BOOLEAN' ? (
              <span class="mono">{row.value}</span>
            ) : (
              <input
                aria-label="Value"
                placeholder="value"
                {...(isNumber ? NUMBER : TEXT)}
                required={isNumber && row.text + row.color !== ''}
                value={row.value}
                onInput={({ currentTarget }) => change(at, { value: currentTarget.value })}
              />
            )}
            <input
              aria-label="Text"
              placeholder="text"
              maxLength={60}
              value={row.text}
              onInput={({ currentTarget }) => change(at, { text: currentTarget.value })}
            />
            <select
              aria-label="Colour"
              value={row.color}
              onChange={({ currentTarget }) => change(at, { color: currentTarget.value as TypedWord['color'] })}
            >
              <option value="">no colour</option>
              {WORD_COLORS.map((color) => (
                <option key={color}>{color}</option>
              ))}
            </select>
            {type !== 'BOOLEAN' && (
              <button
                type="button"
                class="quiet"
                aria-label="Remove this row"
                onClick={() => onTyped({ ...typed, words: rows.filter((_, index) => index !== at) })}
              >
                <Icon name="close" />
              </button>
            )}
          </fieldset>
        ))}
        {type !== 'BOOLEAN' && rows.length < MAX_WORDS && (
          <button
            type="button"
            onClick={() => onTyped({ ...typed, words: [...rows, { value: '', text: '', color: '' }] })}
          >
            <Icon name="plus" /> Text for a value
          </button>
        )}
      </div>
    </details>
  );
}
