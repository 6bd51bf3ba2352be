import { useState } from 'preact/hooks';
import type { DataOf } from '../../api/operation.ts';
import { useAction } from '../../api/use-action.ts';
import { href } from '../../navigation/place.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { givenIn, onSubmit } from '../../parts/form-texts.ts';
import { Note } from '../../parts/note.tsx';
import { adopt, type Outcome, type Unknown } from './adopt.ts';
import type { AdoptionChoices } from './unknown-list.graphql.ts';
import { counted, t } from '../../texts/texts.ts';
import { countText } from '../../texts/count-text.ts';

interface AdoptSheetProps {
  chosen: readonly Unknown[];
  products: readonly { id: string; name: string }[];
  plans: DataOf<typeof AdoptionChoices>['plans'];
  /** Called for each, as soon as it is known what became of it. */
  onOutcome: (outcome: Outcome) => void;
  onDone: () => void;
  onClose: () => void;
}

/** Asks into which product they are to go, and makes devices of them. */
export function AdoptSheet({ chosen, products, plans, onOutcome, onDone, onClose }: AdoptSheetProps) {
  const [done, setDone] = useState(0);
  const adopting = useAction(async (form: HTMLFormElement) => {
    const given = givenIn(form);
    await adopt(
      chosen,
      { productId: given('product') ?? '', plan: given('plan') ?? '', name: given('name') },
      (outcome) => {
        setDone((before) => before + 1);
        onOutcome(outcome);
      },
    );
    onDone();
  });
  const [first] = chosen;
  const ofNetworks = chosen.filter(({ productId }) => productId === null);
  const nameOf = (id: string): string => products.find((product) => product.id === id)?.name ?? t('its product');
  const named = [...new Set(chosen.map(({ productId }) => productId))].filter((id) => id !== null);
  const title =
    chosen.length === 1
      ? t('Adopt {identifier}', { identifier: first?.identifier })
      : counted(chosen.length, 'Adopt {count} device', 'Adopt {count} devices');
  if (ofNetworks.length > 0 && products.length === 0)
    return (
      <Dialog title={title} onClose={onClose}>
        <Note>
          A device belongs to a product, and there is none yet. <a href={href('/products')}>Make one</a>, then come
          back: what was sent is kept.
        </Note>
      </Dialog>
    );
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" onSubmit={onSubmit(adopting.run)}>
        <p>
          {counted(chosen.length, 'It becomes a device.', 'They become devices.')} What was sent so far and kept is
          decoded again, under the time at which it came.
        </p>
        {named.map((id) => (
          <p key={id} class="hint">
            {chosen.length === 1
              ? `The webhook of ${nameOf(id)} named it: it goes into that product.`
              : counted(
                  chosen.filter(({ productId }) => productId === id).length,
                  '{count} named by the webhook of {name} goes into that product.',
                  '{count} named by the webhook of {name} go into that product.',
                  { name: nameOf(id) },
                )}
          </p>
        ))}
        {ofNetworks.length > 0 && (
          <label>
            Product{named.length > 0 && ' of the others'}
            <select name="product" autofocus>
              {products.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
        {chosen.length === 1 && (
          <label>
            Name
            <input name="name" maxLength={200} placeholder={first?.identifier} />
          </label>
        )}
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
        {adopting.busy && chosen.length > 1 && (
          <p role="status">
            {countText(done)} of {countText(chosen.length)} done
          </p>
        )}
        <FormEnd action={adopting} onCancel={onClose}>
          Adopt
        </FormEnd>
      </form>
    </Dialog>
  );
}
