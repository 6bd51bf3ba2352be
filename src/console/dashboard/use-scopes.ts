import { useEffect, useState } from 'preact/hooks';
import { wordsOf } from '../api/api-error.ts';
import { request } from '../api/request.ts';
import { SourceDevices, SourceFields } from './dashboard.graphql.ts';
import type { DashboardField, Source, WidgetScope } from './widgets.ts';

/** Maximum devices of a widget. */
const MAX_DEVICES = 200;

/** The devices of a source, with the products that they are of. */
export interface SourceScope extends WidgetScope {
  devices: readonly (WidgetScope['devices'][number] & { productId: string })[];
  /** Number of devices that there are, of which at most 200 are shown. */
  totalCount: number;
}

interface Scopes {
  /** What a source stands for; null: not known yet. */
  of: (source: Source | undefined) => SourceScope | null;
  error: string | null;
}

/** Looks up what the sources of widgets stand for: each once, while they stay the same. */
export function useScopes(workspaceId: string | null, sources: readonly (Source | undefined)[]): Scopes {
  const [found, setFound] = useState<ReadonlyMap<string, SourceScope>>(new Map());
  const [error, setError] = useState<string | null>(null);
  const keys = [...new Set(sources.flatMap((source) => (source === undefined ? [] : [keyOf(source)])))];
  useEffect(() => {
    let isWanted = true;
    const missing = keys.filter((key) => !found.has(key));
    if (missing.length === 0) return;
    const read = async (): Promise<void> => {
      const more = await lookUp(workspaceId, missing);
      if (!isWanted) return;
      setError(null);
      setFound((before) => new Map([...before, ...more]));
    };
    read().catch((reason: unknown) => isWanted && setError(wordsOf(reason)));
    return () => void (isWanted = false);
  }, [workspaceId, keys.join('\n')]);
  return { of: (source) => (source === undefined ? null : (found.get(keyOf(source)) ?? null)), error };
}

function keyOf({ deviceIds, productId, tags }: Source): string {
  return JSON.stringify({ deviceIds, productId, tags });
}

async function lookUp(workspaceId: string | null, keys: readonly string[]): Promise<[string, SourceScope][]> {
  const answers = await Promise.all(
    keys.map((key) => {
      const { deviceIds = null, productId = null, tags = null } = JSON.parse(key) as Source;
      // Ids may be of any workspace that the session sees.
      const within = tags === null ? null : workspaceId;
      return request(SourceDevices, { ids: deviceIds, productId, tags, workspaceId: within, first: MAX_DEVICES });
    }),
  );
  const devices = answers.map(({ devices: { edges } }) =>
    edges.map(({ node: { id, name, product } }) => ({ id, name, productId: product.id })),
  );
  // Ask through a device: a token limited to devices sees no product.
  const oneOf = new Map(devices.flat().map(({ id, productId }) => [productId, id]));
  const found = await Promise.all([...oneOf.values()].map((id) => request(SourceFields, { id })));
  const fieldsOf = new Map(found.map(({ device: { product } }) => [product.id, product.fields]));
  return keys.map((key, index) => {
    const some = devices[index] ?? [];
    const fields = new Map<string, DashboardField>();
    const products = new Set(some.map((device) => device.productId));
    for (const productId of products)
      for (const field of fieldsOf.get(productId) ?? [])
        if (!fields.has(field.identifier)) fields.set(field.identifier, field);
    const totalCount = answers[index]?.devices.totalCount ?? 0;
    const all =
      products.size > 1 ? some.map((device) => ({ ...device, own: fieldsOf.get(device.productId) ?? [] })) : some;
    return [key, { devices: all, fields: [...fields.values()], totalCount }];
  });
}
