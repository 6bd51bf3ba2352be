import { useState } from 'preact/hooks';
import type { EndpointInput, EndpointKind } from '../../api/schema-types.ts';
import { request } from '../../api/request.ts';
import { useStore } from '../../api/store.ts';
import { useAction } from '../../api/use-action.ts';
import { useQuery } from '../../api/use-query.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { onSubmit } from '../../parts/form-texts.ts';
import { Icon } from '../../parts/icon.tsx';
import { MistakeContext, mistakeOf, useMistake } from '../../parts/mistake.tsx';
import { Pick, Typed } from '../../parts/pick.tsx';
import { pickWithKeys } from '../../parts/pick-with-keys.ts';
import { workspaceId } from '../../session/session.ts';
import { eventsOf, KINDS } from './endpoint-words.ts';
import { CreateEndpoint, type EndpointParts, EndpointProducts, UpdateEndpoint } from './endpoints.graphql.ts';
import { SecretDialog } from './secret-dialog.tsx';

const NEW_EVENTS = ['alert.fired', 'alert.updated', 'alert.resolved'];

interface EndpointSheetProps {
  /** The endpoint to change; null: a new one. */
  endpoint: EndpointParts | null;
  onClose: () => void;
  onSaved: () => void;
}

/** Makes an endpoint, whose secret is shown once, or changes one; its kind never changes. */
export function EndpointSheet({ endpoint, onClose, onSaved }: EndpointSheetProps) {
  const [kind, setKind] = useState<EndpointKind>(endpoint?.kind ?? 'WEBHOOK');
  const [name, setName] = useState(endpoint?.name ?? '');
  const [where, setWhere] = useState(endpoint?.url ?? endpoint?.addresses?.join(', ') ?? '');
  const [events, setEvents] = useState<readonly string[]>(endpoint?.events ?? NEW_EVENTS);
  const [products, setProducts] = useState<readonly Named[]>(endpoint?.products ?? []);
  const [tags, setTags] = useState(endpoint?.tags?.join(', ') ?? '');
  const [enabled, setEnabled] = useState(endpoint?.enabled ?? true);
  const [secret, setSecret] = useState<string | null>(null);
  const saving = useAction(async () => {
    const taken = eventsOf(kind).map(([event]) => event);
    const input: EndpointInput = {
      kind,
      name,
      ...(kind === 'EMAIL' ? { addresses: listOf(where) } : { url: where }),
      events: taken.filter((event) => events.includes(event)),
      productIds: products.length === 0 ? null : products.map(({ id }) => id),
      tags: listOf(tags),
      enabled,
    };
    if (endpoint === null) {
      const made = (await request(CreateEndpoint, { workspaceId: workspaceId.get(), input })).createEndpoint;
      onSaved();
      if (made.secret !== null) return setSecret(made.secret);
    } else {
      await request(UpdateEndpoint, { id: endpoint.id, input });
      onSaved();
    }
    onClose();
  });
  if (secret !== null) return <SecretDialog secret={secret} onClose={onClose} />;
  return (
    <Dialog title={endpoint === null ? 'New endpoint' : `Change ${endpoint.name}`} onClose={onClose}>
      <MistakeContext.Provider value={mistakeOf(saving.error)}>
        <form class="stack" onInput={saving.clear} onSubmit={onSubmit(() => saving.run())}>
          {endpoint === null && (
            <Pick
              label="Told by"
              part="input.kind"
              value={kind}
              choices={Object.entries(KINDS) as [EndpointKind, string][]}
              onChange={setKind}
            />
          )}
          <Typed label="Name" part="input.name" required maxLength={200} value={name} onChange={setName} />
          {kind === 'EMAIL' ? (
            <Typed
              label="Addresses"
              part="input.addresses"
              required
              placeholder="ada@example.org, grace@example.org"
              value={where}
              onChange={setWhere}
            />
          ) : (
            <Typed
              label="URL"
              part="input.url"
              required
              maxLength={2048}
              placeholder={kind === 'WEBHOOK' ? 'https://example.org/inlet' : 'http://alertmanager:9093'}
              value={where}
              onChange={setWhere}
            />
          )}
          <Events kind={kind} chosen={events} onChange={setEvents} />
          <Products chosen={products} onChange={setProducts} />
          <Typed
            label="Only devices with these tags"
            part="input.tags"
            hint="With all of them, separated by commas; left out: any."
            value={tags}
            onChange={setTags}
          />
          <label class="check">
            <input type="checkbox" checked={enabled} onChange={() => setEnabled(!enabled)} />
            On
          </label>
          <FormEnd action={saving} onCancel={onClose}>
            {endpoint === null ? 'Make endpoint' : 'Save'}
          </FormEnd>
        </form>
      </MistakeContext.Provider>
    </Dialog>
  );
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

interface EventsProps {
  kind: EndpointKind;
  chosen: readonly string[];
  onChange: (events: string[]) => void;
}

function Events({ kind, chosen, onChange }: EventsProps) {
  const { told } = useMistake('input.events');
  return (
    <fieldset class="endpoint-part">
      <legend>It is told when</legend>
      {eventsOf(kind).map(([event, text]) => (
        <label key={event} class="check">
          <input
            type="checkbox"
            checked={chosen.includes(event)}
            onChange={() =>
              onChange(chosen.includes(event) ? chosen.filter((one) => one !== event) : [...chosen, event])
            }
          />
          {text} <small class="mono">{event}</small>
        </label>
      ))}
      <p class="hint">None of them: only rules that name this endpoint send to it.</p>
      {told}
    </fieldset>
  );
}

interface Named {
  id: string;
  name: string;
}

function Products({ chosen, onChange }: { chosen: readonly Named[]; onChange: (products: readonly Named[]) => void }) {
  const workspace = useStore(workspaceId);
  const { data } = useQuery(EndpointProducts, { workspaceId: workspace });
  const { marks, told } = useMistake('input.productIds');
  const products = data?.products.edges.map(({ node }) => node) ?? [];
  return (
    <fieldset class="endpoint-part">
      <legend>Of these products (none chosen: of all)</legend>
      {chosen.length > 0 && (
        <div class="row">
          {chosen.map((one) => (
            <button
              key={one.id}
              type="button"
              class="tag-filter"
              aria-label={`Not ${one.name}`}
              onClick={() => onChange(chosen.filter(({ id }) => id !== one.id))}
            >
              {one.name} <Icon name="close" />
            </button>
          ))}
        </div>
      )}
      <select
        aria-label="Product"
        onKeyDown={pickWithKeys}
        value=""
        onChange={(event) => {
          const product = products.find(({ id }) => id === event.currentTarget.value);
          if (product !== undefined) onChange([...chosen, product]);
        }}
        {...marks}
      >
        <option value="">A product…</option>
        {products
          .filter(({ id }) => chosen.every((one) => one.id !== id))
          .map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
      </select>
      {told}
    </fieldset>
  );
}
