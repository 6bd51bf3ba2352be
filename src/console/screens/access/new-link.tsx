import { useEffect, useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { href } from '../../navigation/place.ts';
import { CopyText } from '../../parts/copy-text.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { onSubmit, textsOf } from '../../parts/form-texts.ts';
import { workspaceId } from '../../session/session.ts';
import { FieldsOfProduct, MakeToken } from './access.graphql.ts';
import { EndPicker, endIn } from './end-picker.tsx';
import { LimitPicker, type TokenLimit } from './limit-picker.tsx';
import { t } from '../../texts/texts.ts';
import { ShownOnce } from '../../parts/shown-once.tsx';

interface NewLinkProps {
  onClose: () => void;
  onMade: () => void;
}

/** Makes a public link: a token that sees chosen fields of chosen devices, in the address of a page that draws them. */
export function NewLink({ onClose, onMade }: NewLinkProps) {
  const [limit, setLimit] = useState<TokenLimit>({ products: [], devices: [] });
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [link, setLink] = useState<string | null>(null);
  const fields = useFields(
    [...limit.products, ...limit.devices.flatMap(({ product }) => product ?? [])].map(({ id }) => id),
  );
  const making = useAction(async (form: HTMLFormElement) => {
    const text = textsOf(form);
    const shown = chosen.filter((identifier) => fields.some((field) => field.identifier === identifier));
    if (limit.products.length + limit.devices.length === 0) throw new Error(t('Choose a product or a device to show.'));
    if (shown.length === 0) throw new Error(t('Choose at least one field to show.'));
    const { createToken } = await request(MakeToken, {
      input: {
        kind: 'INDIVIDUAL',
        name: text('name').trim(),
        workspaceId: workspaceId.get(),
        scopes: ['READ'],
        ...(limit.products.length === 0 ? {} : { productIds: limit.products.map(({ id }) => id) }),
        ...(limit.devices.length === 0 ? {} : { deviceIds: limit.devices.map(({ id }) => id) }),
        fields: shown,
        ...endIn(text),
      },
    });
    setLink(`${location.origin}${href('/share')}#${createToken.secret}`);
    onMade();
  });
  if (link !== null)
    return (
      <ShownOnce title="The public link" label="the link" text={link} onClose={onClose}>
        <p>
          It is shown this once. Whoever has it sees these fields live, without signing in, until you revoke it in the
          list of tokens. In a page of an origin that the server allows (<code>ALLOWED_ORIGINS</code>) it stands as
        </p>
        <CopyText label="the frame" text={`<iframe src="${link}"></iframe>`} />
      </ShownOnce>
    );
  return (
    <Dialog title="New public link" onClose={onClose}>
      <form class="stack" onSubmit={onSubmit(making.run)}>
        <label>
          Name
          <input name="name" required maxLength={200} autofocus placeholder="who it is for" />
        </label>
        <LimitPicker legend="It shows" limit={limit} onChange={setLimit} />
        <fieldset class="scopes">
          <legend>Only these fields</legend>
          {fields.length === 0 && <p class="hint">Choose what to show first.</p>}
          {fields.map(({ identifier, name }) => (
            <label key={identifier} class="check">
              <input
                type="checkbox"
                checked={chosen.includes(identifier)}
                onChange={() =>
                  setChosen(
                    chosen.includes(identifier) ? chosen.filter((one) => one !== identifier) : [...chosen, identifier],
                  )
                }
              />
              {name ?? identifier} {name !== null && <small class="mono">{identifier}</small>}
            </label>
          ))}
        </fieldset>
        <EndPicker />
        <FormEnd action={making} onCancel={onClose}>
          Make link
        </FormEnd>
      </form>
    </Dialog>
  );
}

interface NamedField {
  identifier: string;
  name: string | null;
}

/** The fields of the products, each identifier once. */
function useFields(productIds: readonly string[]): readonly NamedField[] {
  const [fields, setFields] = useState<readonly NamedField[]>([]);
  const key = [...new Set(productIds)].join(' ');
  useEffect(() => {
    let isWanted = true;
    const ids = key === '' ? [] : key.split(' ');
    const read = async (): Promise<void> => {
      const found = await Promise.all(ids.map((id) => request(FieldsOfProduct, { id })));
      const all = found.flatMap(({ product }) => product.fields);
      if (isWanted) setFields([...new Map(all.map((field) => [field.identifier, field])).values()]);
    };
    read().catch(() => isWanted && setFields([]));
    return () => void (isWanted = false);
  }, [key]);
  return fields;
}
