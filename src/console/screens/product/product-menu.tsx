import { useState } from 'preact/hooks';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { CloneProduct } from './clone-product.tsx';
import { DeleteProduct } from './delete-product.tsx';
import { EditProduct } from './edit-product.tsx';
import type { ShownProduct } from './shown-product.ts';

/** The actions on a whole product. */
export function ProductMenu({ product, onChanged }: { product: ShownProduct; onChanged: () => void }) {
  const [sheet, setSheet] = useState<'edit' | 'clone' | 'delete' | null>(null);
  const close = (): void => setSheet(null);
  return (
    <>
      <Menu label="More" button={<Icon name="more" />} class="boxed">
        <button type="button" onClick={() => setSheet('edit')}>
          <Icon name="pencil" /> Change
        </button>
        <button type="button" onClick={() => setSheet('clone')}>
          <Icon name="copy" /> Clone
        </button>
        <button type="button" class="danger" onClick={() => setSheet('delete')}>
          <Icon name="trash" /> Delete
        </button>
      </Menu>
      {sheet === 'edit' && <EditProduct product={product} onClose={close} onSaved={onChanged} />}
      {sheet === 'clone' && <CloneProduct product={product} onClose={close} />}
      {sheet === 'delete' && <DeleteProduct product={product} onClose={close} />}
    </>
  );
}
