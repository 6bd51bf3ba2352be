import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { useQuery } from '../../api/use-query.ts';
import { useValueCount } from '../../deleting/use-value-count.ts';
import { href, navigate } from '../../navigation/place.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { onSubmit } from '../../parts/form-texts.ts';
import { toast } from '../../parts/toasts.tsx';
import { DeleteProduct as Delete, DevicesOfProduct } from './product.graphql.ts';
import type { ShownProduct } from './shown-product.ts';
import { countedParts, t } from '../../texts/texts.ts';
import { countText } from '../../texts/count-text.ts';

/** Maximum devices whose values are counted. */
const COUNTED = 500;

/** Shows what a product's deletion takes along, and deletes it once its name is typed. */
export function DeleteProduct({ product: { id, name }, onClose }: { product: ShownProduct; onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const { data, error: unknown } = useQuery(DevicesOfProduct, { id, first: COUNTED });
  const { totalCount = 0, edges = null } = data?.product.devices ?? {};
  const count = useValueCount(edges?.map(({ node }) => node) ?? null);
  const deleting = useAction(async () => {
    await request(Delete, { id });
    toast(t('Deleted {name}.', { name }));
    navigate(href('/products'), { replace: true });
  });
  const isCounted = edges !== null && count.counted === edges.length;
  const those = <strong>{countText(count.values)}</strong>;
  const error = deleting.error ?? count.error ?? unknown?.message ?? null;
  return (
    <Dialog title={`Delete ${name}?`} onClose={onClose}>
      <form class="stack" onSubmit={onSubmit(deleting.run)}>
        <p aria-live="polite">
          {isCounted ? (
            <>
              {countedParts(totalCount, '{count} device goes with it,', '{count} devices go with it,', {
                count: <strong>{countText(totalCount)}</strong>,
              })}{' '}
              {totalCount > edges.length
                ? countedParts(count.values, 'and at least {count} value;', 'and at least {count} values;', {
                    count: those,
                  })
                : countedParts(count.values, 'and {count} value;', 'and {count} values;', { count: those })}{' '}
              its fields, decoder versions, dashboard and logged calls too. This cannot be undone.
            </>
          ) : (
            t('Counting the values that would go: {counted} of {length}…', {
              counted: count.counted,
              length: edges?.length ?? '…',
            })
          )}
        </p>
        <label>
          Write its name to delete it: {name}
          <input
            value={typed}
            autocomplete="off"
            spellcheck={false}
            autofocus
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
        <FormEnd
          action={{ busy: !isCounted || typed.trim() !== name.trim() || deleting.busy, error }}
          onCancel={onClose}
          cancel="Keep it"
          danger
        >
          Delete product
        </FormEnd>
      </form>
    </Dialog>
  );
}
