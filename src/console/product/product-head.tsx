import type { ComponentChildren } from 'preact';
import { useQuery } from '../api/use-query.ts';
import { href } from '../navigation/place.ts';
import { useTitle } from '../navigation/use-title.ts';
import { Note } from '../parts/note.tsx';
import { WorkspaceCrumb } from '../session/workspace-crumb.tsx';
import { ProductName } from './product-head.graphql.ts';
import { t } from '../texts/texts.ts';

const PAGES = [
  { page: 'product', text: t('Product'), path: '' },
  { page: 'decoder', text: t('Decoder'), path: '/decoder' },
  { page: 'calls', text: t('Calls'), path: '/calls' },
] as const;

interface ProductHeadProps {
  id: string;
  page: (typeof PAGES)[number]['page'];
  /** Name of the product if the page fetches it; null: not known yet. Left out: fetched here. */
  name?: string | null | undefined;
  /** Buttons at the end. */
  children?: ComponentChildren;
}

/** The head of a product's pages: its name and the links between them. */
export function ProductHead({ id, page, name: given, children }: ProductHeadProps) {
  const { data, error } = useQuery(ProductName, given === undefined ? { id } : null);
  const name = given ?? data?.product.name ?? null;
  const shown = PAGES.find((one) => one.page === page)!;
  useTitle(name === null ? null : page === 'product' ? name : t('{text} of {name}', { text: shown.text, name }));
  return (
    <>
      <div class="page-head">
        <div class="grow">
          <nav class="crumbs" aria-label="Where this is">
            <WorkspaceCrumb />
            <a href={href('/products')}>Products</a>
          </nav>
          <h1>{name ?? '…'}</h1>
        </div>
        <nav class="tabs" aria-label="Pages of the product">
          {PAGES.map(({ page: one, text, path }) => (
            <a key={one} href={href(`/products/${id}${path}`)} aria-current={one === page ? 'page' : undefined}>
              {text}
            </a>
          ))}
        </nav>
        {children}
      </div>
      {error !== null && <Note kind="error">{error.message}</Note>}
    </>
  );
}
