import { useState } from 'preact/hooks';
import { useStore } from '../../api/store.ts';
import { useQuery } from '../../api/use-query.ts';
import { href, useParameter } from '../../navigation/place.ts';
import { useTitle } from '../../navigation/use-title.ts';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { useLater } from '../../parts/use-later.ts';
import { may, workspaceId } from '../../session/session.ts';
import { UnknownBanner } from '../../unknown/unknown-banner.tsx';
import { NewProduct } from './new-product.tsx';
import { Products } from './products.graphql.ts';
import './products.css';
import { t } from '../../texts/texts.ts';

const LATER_MS = 200;
const SENDS = { API: t('API or webhook'), LORAWAN: 'LoRaWAN', PARTICLE: 'Particle' } as const;

/** The products of the workspace, page by page. */
export function ProductsScreen() {
  useTitle(t('Products'));
  const workspace = useStore(workspaceId);
  const [search, setSearch] = useParameter('search');
  const [after, setAfter] = useParameter('after');
  const wanted = useLater(search ?? '', LATER_MS);
  const { data, error } = useQuery(Products, { workspaceId: workspace, search: wanted === '' ? null : wanted, after });
  const [isNew, setNew] = useState(false);
  const products = data?.products.edges.map(({ node }) => node) ?? [];
  const next = data?.products.pageInfo;
  return (
    <main class="page">
      <div class="page-head">
        <h1 class="grow">Products</h1>
        <input
          class="products-search"
          type="search"
          aria-label="Part of the name"
          placeholder="Part of the name"
          value={search ?? ''}
          onInput={(event) => {
            setAfter(null);
            setSearch(event.currentTarget.value);
          }}
        />
        {may('CONFIGURE') && (
          <button type="button" class="primary" onClick={() => setNew(true)}>
            <Icon name="plus" /> New product
          </button>
        )}
      </div>
      <UnknownBanner />
      {error !== null && <Note kind="error">{error.message}</Note>}
      {data !== null && products.length === 0 ? (
        <Note>{wanted === '' ? 'There is no product yet.' : 'No product is called like that.'}</Note>
      ) : (
        <div class="card scroll-x" aria-busy={data === null}>
          <table>
            <thead>
              <tr>
                <th>Name</th>
                <th>Sends through</th>
                <th class="number">Devices</th>
                <th class="number">Fields</th>
                <th>Decoder</th>
              </tr>
            </thead>
            <tbody>
              {products.map(({ id, name, deviceType, fields, decoder, devices }) => (
                <tr key={id}>
                  <td>
                    <a href={href(`/products/${id}`)}>{name}</a>
                  </td>
                  <td>{SENDS[deviceType]}</td>
                  <td class="number">
                    <a href={href('/devices', { product: id })}>{devices.totalCount}</a>
                  </td>
                  <td class="number">{fields.length}</td>
                  <td>
                    <a href={href(`/products/${id}/decoder`)}>
                      {decoder === null ? 'none' : `version ${decoder.version}`}
                    </a>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {(after !== null || next?.hasNextPage === true) && (
        <div class="row">
          {after !== null && (
            <button type="button" onClick={() => setAfter(null)}>
              First page
            </button>
          )}
          {next?.hasNextPage === true && (
            <button type="button" onClick={() => setAfter(next.endCursor, { push: true })}>
              More
            </button>
          )}
        </div>
      )}
      {isNew && <NewProduct onClose={() => setNew(false)} />}
    </main>
  );
}
