import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { href, navigate } from '../../navigation/place.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { onSubmit, textsOf } from '../../parts/form-texts.ts';
import { Note } from '../../parts/note.tsx';
import { AddDevices } from './devices.graphql.ts';

interface NewDeviceProps {
  products: readonly { id: string; name: string }[];
  plans: readonly { slug: string; name: string }[];
  /** The preselected product. */
  productId: string | null;
  onClose: () => void;
}

/** The form for a new device, which leads to its page. */
export function NewDevice({ products, plans, productId, onClose }: NewDeviceProps) {
  const creating = useAction(async (form: HTMLFormElement) => {
    const text = textsOf(form);
    const serialNumber = text('serialNumber').trim();
    const tags = text('tags')
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== '');
    const { createDevices } = await request(AddDevices, {
      productId: text('product'),
      plan: text('plan'),
      devices: [{ name: text('name'), ...(serialNumber === '' ? {} : { serialNumber }), tags }],
    });
    navigate(href(`/devices/${createDevices[0]!.id}`));
  });
  return (
    <Dialog title="New device" onClose={onClose}>
      {products.length === 0 ? (
        <Note>
          A device belongs to a product, and there is none yet. <a href={href('/start')}>First steps</a>
        </Note>
      ) : (
        <form class="stack" onSubmit={onSubmit(creating.run)}>
          <label>
            Product
            <select name="product">
              {products.map(({ id, name }) => (
                <option key={id} value={id} selected={id === productId}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <label>
            Name
            <input name="name" required maxLength={200} autofocus />
          </label>
          <label>
            Serial number
            <input name="serialNumber" maxLength={100} placeholder="made up if left empty; for LoRaWAN the EUI" />
          </label>
          <label>
            Tags
            <input name="tags" placeholder="roof, building 2" />
          </label>
          <label>
            Plan
            <select name="plan">
              {plans.map(({ slug, name }) => (
                <option key={slug} value={slug} selected={slug === plans.at(-1)?.slug}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <FormEnd action={creating} onCancel={onClose}>
            Create
          </FormEnd>
        </form>
      )}
    </Dialog>
  );
}
