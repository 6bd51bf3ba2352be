import { useQuery } from '../../api/use-query.ts';
import type { ScreenProps } from '../../navigation/routes.ts';
import { Note } from '../../parts/note.tsx';
import { ProductHead } from '../../product/product-head.tsx';
import { may } from '../../session/session.ts';
import { ConfigurationCard } from './configuration-card.tsx';
import { DashboardCard } from './dashboard-card.tsx';
import { FieldsCard } from './fields-card.tsx';
import { NetworksCard } from './networks-card.tsx';
import { ProductFacts } from './product-facts.tsx';
import { ProductMenu } from './product-menu.tsx';
import { ProductPage } from './product.graphql.ts';
import { SuggestionsCard } from './suggestions-card.tsx';
import { WebhookCard } from './webhook-card.tsx';
import './product.css';

/** The screen of a product: fields, dashboard, configuration, and the addresses to send to. */
export function ProductScreen({ params }: ScreenProps) {
  const id = params['id'] ?? '';
  const { data, error, refetch } = useQuery(ProductPage, { id });
  const product = data?.product ?? null;
  const onChanged = (): void => void refetch();
  return (
    <main class="page">
      <ProductHead id={id} page="product" name={product?.name ?? null}>
        {product !== null && may('CONFIGURE') && <ProductMenu product={product} onChanged={onChanged} />}
      </ProductHead>
      {error !== null && <Note kind="error">{error.message}</Note>}
      {product !== null && (
        <>
          <ProductFacts {...product} />
          <SuggestionsCard productId={id} suggestions={product.suggestedFields} onChanged={onChanged} />
          <FieldsCard productId={id} fields={product.fields} onChanged={onChanged} />
          <DashboardCard
            productId={id}
            dashboard={product.dashboard}
            fields={product.fields}
            devices={product.devices.edges.map(({ node }) => node)}
            onChanged={refetch}
          />
          <ConfigurationCard productId={id} fields={product.configurationFields} onChanged={onChanged} />
          {may('CONFIGURE') && <WebhookCard productId={id} />}
          <NetworksCard productId={id} deviceType={product.deviceType} />
        </>
      )}
    </main>
  );
}
