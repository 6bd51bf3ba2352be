import { useMemo } from 'preact/hooks';
import { useFiring } from '../../alerts/use-firing.ts';
import { useQuery } from '../../api/use-query.ts';
import type { ScreenProps } from '../../navigation/routes.ts';
import { Note } from '../../parts/note.tsx';
import { ProductHead } from '../../product/product-head.tsx';
import { ProductRules } from '../../rules/rules.graphql.ts';
import { may } from '../../session/session.ts';
import { ConfigurationCard } from './configuration-card.tsx';
import { DashboardCard } from './dashboard-card.tsx';
import { FieldsCard } from './fields-card.tsx';
import { NetworksCard } from './networks-card.tsx';
import { ProductFacts } from './product-facts.tsx';
import { ProductMenu } from './product-menu.tsx';
import { ProductPage } from './product.graphql.ts';
import { type FiringOf, RulesCard } from './rules-card.tsx';
import { SuggestionsCard } from './suggestions-card.tsx';
import { WebhookCard } from './webhook-card.tsx';
import './product.css';

/** The screen of a product: fields, rules, dashboard, configuration, and the addresses to send to. */
export function ProductScreen({ params }: ScreenProps) {
  const id = params['id'] ?? '';
  const { data, error, refetch } = useQuery(ProductPage, { id, mayConfigure: may('CONFIGURE') });
  const rules = useQuery(ProductRules, { id });
  const firing = useFiring({ productId: id });
  const firingOf = useMemo((): FiringOf => {
    const counts = new Map<string, number>();
    for (const { rule } of firing.alerts ?? []) counts.set(rule.id, (counts.get(rule.id) ?? 0) + 1);
    return counts;
  }, [firing.alerts]);
  // Show all cards at once: one after the other they would push each other down.
  const isWaiting = firing.isWaiting || (rules.data === null && rules.loading);
  const product = isWaiting ? null : (data?.product ?? null);
  const onChanged = (): void => void refetch();
  return (
    <main class="page">
      <ProductHead id={id} page="product" name={data?.product.name ?? null}>
        {product !== null && may('CONFIGURE') && <ProductMenu product={product} onChanged={onChanged} />}
      </ProductHead>
      {error !== null && <Note kind="error">{error.message}</Note>}
      {product !== null && (
        <>
          <ProductFacts {...product} />
          <SuggestionsCard productId={id} suggestions={product.suggestedFields} onChanged={onChanged} />
          <FieldsCard productId={id} fields={product.fields} onChanged={onChanged} />
          {rules.error !== null && <Note kind="error">{rules.error.message}</Note>}
          {rules.data !== null && (
            <RulesCard
              productId={id}
              rules={rules.data.product.rules}
              fields={product.fields}
              firing={firingOf}
              onChanged={rules.refetch}
            />
          )}
          <DashboardCard
            productId={id}
            dashboard={product.dashboard}
            fields={product.fields}
            devices={product.devices.edges.map(({ node }) => node)}
            onChanged={refetch}
          />
          <ConfigurationCard productId={id} fields={product.configurationFields} onChanged={onChanged} />
          {product.webhookUrl != null && <WebhookCard productId={id} url={product.webhookUrl} onChanged={refetch} />}
          <NetworksCard webhookUrl={product.webhookUrl ?? null} deviceType={product.deviceType} />
        </>
      )}
    </main>
  );
}
