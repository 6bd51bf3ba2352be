import { request } from '../../api/request.ts';
import type { DeviceType } from '../../api/schema-types.ts';
import { useStore } from '../../api/store.ts';
import { useAction } from '../../api/use-action.ts';
import { href, navigate } from '../../navigation/place.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { onSubmit, textsOf } from '../../parts/form-texts.ts';
import { workspaceId } from '../../session/session.ts';
import { CreateProduct } from './products.graphql.ts';

/** The form for a new product, which leads to its page. */
export function NewProduct({ onClose }: { onClose: () => void }) {
  const workspace = useStore(workspaceId);
  const creating = useAction(async (form: HTMLFormElement) => {
    const text = textsOf(form);
    const { createProduct } = await request(CreateProduct, {
      input: { name: text('name'), deviceType: text('deviceType') as DeviceType, workspaceId: workspace },
    });
    navigate(href(`/products/${createProduct.id}`));
  });
  return (
    <Dialog title="New product" onClose={onClose}>
      <form class="stack" onSubmit={onSubmit(creating.run)}>
        <label>
          Name
          <input name="name" required maxLength={200} autofocus />
        </label>
        <label>
          Its devices send
          <select name="deviceType">
            <option value="API">to the record endpoint or its webhook</option>
            <option value="LORAWAN">through a LoRaWAN network</option>
            <option value="PARTICLE">through Particle</option>
          </select>
        </label>
        <FormEnd action={creating} onCancel={onClose}>
          Create product
        </FormEnd>
      </form>
    </Dialog>
  );
}
