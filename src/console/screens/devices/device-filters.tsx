import { useEffect, useState } from 'preact/hooks';
import { setParameters } from '../../navigation/place.ts';
import { Icon } from '../../parts/icon.tsx';
import { useLater } from '../../parts/use-later.ts';
import type { DeviceFilter } from './device-filter.ts';

const LATER_MS = 200;

interface DeviceFiltersProps {
  filter: DeviceFilter;
  products: readonly { id: string; name: string }[];
  /** Tags of the listed devices, to choose from. */
  tags: readonly string[];
}

/** The filter of the list, kept in the address. */
export function DeviceFilters({ filter, products, tags }: DeviceFiltersProps) {
  const [text, setText] = useState(filter.search);
  const settled = useLater(text, LATER_MS);
  useEffect(() => {
    if (settled.trim() !== filter.search) setParameters({ search: settled.trim() });
  }, [settled]);
  // Follow a search that was set by another way.
  useEffect(() => setText((now) => (now.trim() === filter.search ? now : filter.search)), [filter.search]);
  const others = tags.filter((tag) => !filter.tags.includes(tag));
  return (
    <div class="row filters">
      <input
        type="search"
        aria-label="Name or serial number"
        placeholder="Name or serial number"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
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
      {filter.tags.map((tag) => (
        <button
          key={tag}
          type="button"
          class="tag-filter"
          aria-label={`Without the tag ${tag}`}
          onClick={() => setParameters({ tag: filter.tags.filter((other) => other !== tag).join(',') })}
        >
          {tag} <Icon name="close" />
        </button>
      ))}
    </div>
  );
}
