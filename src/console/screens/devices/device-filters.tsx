import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { setParameters } from '../../navigation/place.ts';
import { Icon } from '../../parts/icon.tsx';
import { useLater } from '../../parts/use-later.ts';
import type { ColumnProduct } from './columns.ts';
import type { DeviceFilter } from './device-filter.ts';
import { setConditions } from './set-conditions.ts';
import { conditionText, readCondition, SIGNS, type ValueCondition } from './value-condition.ts';
import { ValueSheet } from './value-sheet.tsx';

const LATER_MS = 200;

interface DeviceFiltersProps {
  filter: DeviceFilter;
  products: readonly ColumnProduct[];
  /** Tags of the listed devices, to choose from. */
  tags: readonly string[];
}

/** The filter of the list, kept in the address. */
export function DeviceFilters({ filter, products, tags }: DeviceFiltersProps) {
  const [text, setText] = useState(filter.search);
  const [isComparing, setComparing] = useState(false);
  const settled = useLater(text, LATER_MS);
  const fields = new Set(products.flatMap((product) => product.fields.map(({ identifier }) => identifier)));
  const conditionIn = (typed: string): ValueCondition | null => {
    const condition = readCondition(typed);
    // Before the fields are known, any could be one: Enter may come that early.
    return condition !== null && (fields.size === 0 || fields.has(condition.field)) ? condition : null;
  };
  useEffect(() => {
    // A condition is added by Enter: it is not looked for as a text meanwhile.
    if (settled.trim() !== filter.search && conditionIn(settled) === null) setParameters({ search: settled.trim() });
  }, [settled]);
  // Follow a search that was set by another way.
  useEffect(() => setText((now) => (now.trim() === filter.search ? now : filter.search)), [filter.search]);
  const bar = useRef<HTMLDivElement>(null);
  // The head of the table sticks below the filters, however many lines they take.
  useLayoutEffect(() => {
    const watch = new ResizeObserver(([entry]) => {
      const height = entry?.borderBoxSize[0]?.blockSize ?? 0;
      bar.current?.parentElement?.style.setProperty('--filters', `${height}px`);
    });
    if (bar.current !== null) watch.observe(bar.current);
    return () => watch.disconnect();
  }, []);
  const typed = conditionIn(text);
  const add = (condition: ValueCondition): void => setConditions([...filter.values, condition]);
  const others = tags.filter((tag) => !filter.tags.includes(tag));
  return (
    <div ref={bar} class="row filters">
      <form
        role="search"
        aria-label="Filter"
        onSubmit={(event) => {
          event.preventDefault();
          if (typed === null) return setParameters({ search: text.trim() });
          setText('');
          add(typed);
        }}
      >
        <input
          type="search"
          aria-label="Name or serial number, place, tag, metadata, or a comparison such as battery < 3.3"
          placeholder="Name, serial number, place, battery < 3.3"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        {typed !== null && (
          <button type="submit" class="typed">
            <Icon name="plus" /> {conditionWords(typed)}
          </button>
        )}
      </form>
      <select
        aria-label="Product"
        value={filter.productId ?? ''}
        onChange={(event) => setParameters({ product: event.currentTarget.value })}
      >
        <option value="">All products</option>
        {products.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <select
        aria-label="State"
        value={filter.online === null ? '' : filter.online ? 'yes' : 'no'}
        onChange={(event) => setParameters({ online: event.currentTarget.value })}
      >
        <option value="">Online or not</option>
        <option value="yes">Online</option>
        <option value="no">Silent</option>
      </select>
      {/* Present before the tags are known, so that the page below does not jump. */}
      <select
        aria-label="Add a tag to the filter"
        value=""
        disabled={others.length === 0}
        onChange={(event) => setParameters({ tag: [...filter.tags, event.currentTarget.value].join(',') })}
      >
        <option value="">Tag…</option>
        {others.map((tag) => (
          <option key={tag} value={tag}>
            {tag}
          </option>
        ))}
      </select>
      <button type="button" disabled={fields.size === 0} onClick={() => setComparing(true)}>
        <Icon name="plus" /> Value
      </button>
      {filter.tags.map((tag) => (
        <Chosen
          key={tag}
          label={`Without the tag ${tag}`}
          text={tag}
          onClick={() => setParameters({ tag: filter.tags.filter((other) => other !== tag).join(',') })}
        />
      ))}
      {filter.lowBattery && (
        <Chosen
          label="Without the condition on the battery"
          text="battery low"
          onClick={() => setParameters({ battery: null })}
        />
      )}
      {filter.values.map((condition) => (
        <Chosen
          key={conditionText(condition)}
          label={`Without the condition ${conditionWords(condition)}`}
          text={conditionWords(condition)}
          onClick={() => setConditions(filter.values.filter((other) => other !== condition))}
        />
      ))}
      {isComparing && (
        <ValueSheet
          products={products}
          onClose={() => setComparing(false)}
          onAdd={(condition) => {
            setComparing(false);
            add(condition);
          }}
        />
      )}
    </div>
  );
}

/** A part of the filter that a click takes away. */
function Chosen({ label, text, onClick }: { label: string; text: string; onClick: () => void }) {
  return (
    <button type="button" class="tag-filter" aria-label={label} onClick={onClick}>
      {text} <Icon name="close" />
    </button>
  );
}

function conditionWords({ field, sign, value }: ValueCondition): string {
  const words = sign === '~' ? SIGNS.find(([one]) => one === sign)?.[1] : sign;
  return `${field} ${words} ${String(value)}`;
}
