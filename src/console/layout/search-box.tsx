import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useStore } from '../api/store.ts';
import { useQuery } from '../api/use-query.ts';
import { href, navigate } from '../navigation/place.ts';
import { Icon, type IconName } from '../parts/icon.tsx';
import { useLater } from '../parts/use-later.ts';
import { workspaceId } from '../session/session.ts';
import { AllFields, Search, SearchElsewhere } from './search.graphql.ts';
import { useShortcut } from './shortcut.ts';
import { t } from '../texts/texts.ts';

interface Hit {
  to: string;
  icon: IconName;
  name: string;
  beside: string;
}

type Workspaces = readonly { id: string; name: string }[];

const LATER_MS = 150;
const MAX_FIELDS = 5;
const MAX_ELSEWHERE = 5;

/**
 * One box for devices, serial numbers, products and fields, first those of the workspace that is looked at. `/` or Ctrl K
 * focuses it, arrows and Enter choose.
 */
export function SearchBox({ workspaces }: { workspaces: Workspaces }) {
  const id = useId();
  const [text, setText] = useState('');
  const [isOpen, setOpen] = useState(false);
  const [chosen, setChosen] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const wanted = useLater(text.trim(), LATER_MS);
  const here = useHits(isOpen ? wanted : '');
  const elsewhere = useHitsElsewhere(isOpen ? wanted : '', workspaces);
  const hits = [...here, ...elsewhere];
  useEffect(() => setChosen(0), [wanted]);
  useShortcut(['/', t('Ctrl k')], () => input.current?.focus());
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
  const option = (hit: Hit, index: number) => (
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
  );
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
        {here.map((hit, index) => option(hit, index))}
        {elsewhere.length > 0 && (
          <div role="group" aria-labelledby={`${id}-elsewhere`}>
            <p id={`${id}-elsewhere`}>In other workspaces</p>
            {elsewhere.map((hit, index) => option(hit, here.length + index))}
          </div>
        )}
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
        beside: t('field of {name}', { name: product.name }),
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
      beside: t('product'),
    })),
    ...fields.slice(0, MAX_FIELDS),
  ];
}

/** Devices and products of other workspaces; nothing to look for where there is one. */
function useHitsElsewhere(text: string, workspaces: Workspaces): Hit[] {
  const chosen = useStore(workspaceId);
  const { data, fresh } = useQuery(
    SearchElsewhere,
    text === '' || workspaces.length < 2 ? null : { workspaceId: chosen, text },
  );
  if (text === '' || data === null || !fresh) return [];
  const nameOf = (id: string): string => workspaces.find((workspace) => workspace.id === id)?.name ?? '';
  const devices = data.devices.edges.map(({ node: { id, name, serialNumber, workspaceId: of } }) => ({
    to: href(`/devices/${id}`),
    icon: 'device' as const,
    name,
    beside: `${serialNumber} · ${nameOf(of)}`,
  }));
  const products = data.products.edges.map(({ node: { id, name, workspaceId: of } }) => ({
    to: href(`/products/${id}`),
    icon: 'product' as const,
    name,
    beside: t('product · {name}', { name: nameOf(of) }),
  }));
  return [...devices, ...products].slice(0, MAX_ELSEWHERE);
}
