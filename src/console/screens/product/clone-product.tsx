import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { href, navigate } from '../../navigation/place.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { onSubmit, textsOf } from '../../parts/form-texts.ts';
import { toast } from '../../parts/toasts.tsx';
import { CloneProduct as Clone } from './product.graphql.ts';
import type { ShownProduct } from './shown-product.ts';
import { t } from '../../texts/texts.ts';

/** Asks for the name of the copy, and leads to it. */
export function CloneProduct({ product: { id, name }, onClose }: { product: ShownProduct; onClose: () => void }) {
  const cloning = useAction(async (form: HTMLFormElement) => {
    const { cloneProduct } = await request(Clone, { id, name: textsOf(form)('name').trim() });
    toast(t('This is the copy of {name}.', { name }));
    navigate(href(`/products/${cloneProduct.id}`));
  });
  return (
    <Dialog title={`Clone ${name}`} onClose={onClose}>
      <form class="stack" onSubmit={onSubmit(cloning.run)}>
        <p class="hint">
          The copy has the same fields, decoder with its examples, dashboard and configuration, a webhook address of its
          own, and no devices.
        </p>
        <label>
          Name of the copy
          <input name="name" required maxLength={200} defaultValue={`${name} (copy)`.slice(0, 200)} autofocus />
        </label>
        <FormEnd action={cloning} onCancel={onClose}>
          Clone
        </FormEnd>
      </form>
    </Dialog>
  );
}
