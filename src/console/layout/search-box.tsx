import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useStore } from '../api/store.ts';
import { useQuery } from '../api/use-query.ts';
import { href, navigate } from '../navigation/place.ts';
import { Icon, type IconName } from '../parts/icon.tsx';
import { useLater } from '../parts/use-later.ts';
import { workspaceId } from '../session/session.ts';
import { AllFields, Search } from './search.graphql.ts';

interface Hit {
  to: string;
  icon: IconName;
  name: string;
  beside: string;
}

const LATER_MS = 150;
const MAX_FIELDS = 5;

/** One box for devices, serial numbers, products and fields. `/` or Ctrl K focuses it, arrows and Enter choose. */
export function SearchBox() {
  const id = useId();
  const [text, setText] = useState('');
  const [isOpen, setOpen] = useState(false);
  const [chosen, setChosen] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const wanted = useLater(text.trim(), LATER_MS);
  const hits = useHits(isOpen ? wanted : '');
  useEffect(() => setChosen(0), [wanted]);
  useShortcut(input);
  const isShown = isOpen && wanted !== '';
  const go = (hit: Hit | undefined): void => {
    if (hit === undefined) return;
    navigate(hit.to);
    setOpen(false);
    setText('');
    input.current?.blur();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setChosen((chosen + step + hits.length) % Math.max(1, hits.length));
    } else if (event.key === 'Enter') go(hits[chosen]);
    else if (event.key === 'Escape') {
      setOpen(false);
      setText('');
      input.current?.blur();
    }
  };
  return (
    <div class="search" role="search">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        role="combobox"
        list={undefined}
        placeholder="Search devices, serials, products, fields"
        aria-label="Search devices, serial numbers, products and fields"
        aria-expanded={isShown}
        aria-controls={id}
        aria-activedescendant={isShown && hits.length > 0 ? `${id}-${chosen}` : undefined}
        autocomplete="off"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
      />
      <kbd aria-hidden="true">/</kbd>
      {/* Uses mousedown, as the box closes when it loses the focus. */}
      <div class="hits" id={id} role="listbox" aria-label="Found" hidden={!isShown}>
        {hits.map((hit, index) => (
          <a
            key={hit.to}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            href={hit.to}
            tabIndex={-1}
            onMouseDown={(event) => event.preventDefault()}
            onClick={(event) => {
              if (event.metaKey || event.ctrlKey) return;
              event.preventDefault();
              go(hit);
            }}
          >
            <Icon name={hit.icon} />
            <span>{hit.name}</span>
            <small>{hit.beside}</small>
          </a>
        ))}
        {hits.length === 0 && <p>Nothing found.</p>}
      </div>
    </div>
  );
}

function useHits(text: string): Hit[] {
  const workspace = useStore(workspaceId);
  const found = useQuery(Search, text === '' ? null : { workspaceId: workspace, text });
  const all = useQuery(AllFields, text === '' ? null : { workspaceId: workspace });
  if (text === '' || found.data === null) return [];
  const lower = text.toLowerCase();
  const fields = (all.data?.products.edges ?? []).flatMap(({ node: product }) =>
    product.fields
      .filter(({ identifier, name }) => `${identifier} ${name ?? ''}`.toLowerCase().includes(lower))
      .map(({ identifier, name }) => ({
        to: `${href(`/products/${product.id}`)}#${identifier}`,
        icon: 'tag' as const,
        name: name ?? identifier,
        beside: `field of ${product.name}`,
      })),
  );
  return [
    ...found.data.devices.edges.map(({ node }) => ({
      to: href(`/devices/${node.id}`),
      icon: 'device' as const,
      name: node.name,
      beside: `${node.serialNumber} · ${node.product.name}`,
    })),
    ...found.data.products.edges.map(({ node }) => ({
      to: href(`/products/${node.id}`),
      icon: 'product' as const,
      name: node.name,
      beside: 'product',
    })),
    ...fields.slice(0, MAX_FIELDS),
  ];
}

function useShortcut(input: { current: HTMLInputElement | null }): void {
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      // Use the path: for the decoder's editor, `target` is only the element around its shadow root.
      const [target] = event.composedPath();
      const isTyping =
        target instanceof Element && target.matches('input, textarea, select, [contenteditable], [contenteditable] *');
      const isSlash = event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey;
      if (!isSlash && !(event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey))) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
}
