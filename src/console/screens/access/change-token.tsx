import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import type { UpdateTokenInput } from '../../api/schema-types.ts';
import { useAction } from '../../api/use-action.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { onSubmit, textsOf } from '../../parts/form-texts.ts';
import { toast } from '../../parts/toasts.tsx';
import { ChangeToken, RenewToken, type ShownToken } from './access.graphql.ts';
import { changedEnd, EndPicker } from './end-picker.tsx';
import { LimitPicker, type TokenLimit } from './limit-picker.tsx';
import { fieldsIn } from './token-fields.ts';
import { TokenSecret } from './token-secret.tsx';
import { t } from '../../texts/texts.ts';

interface TokenDialogProps {
  token: ShownToken;
  onClose: () => void;
  onChanged: () => void;
}

/** Changes name, limits and end of a token; its secret and its rights stay. */
export function ChangeTokenDialog({ token, onClose, onChanged }: TokenDialogProps) {
  const [limit, setLimit] = useState<TokenLimit>({ products: token.products ?? [], devices: token.devices ?? [] });
  const changing = useAction(async (form: HTMLFormElement) => {
    const text = textsOf(form);
    const input: UpdateTokenInput = { name: text('name').trim() };
    const expiresAt = changedEnd(text);
    if (expiresAt !== undefined) input.expiresAt = expiresAt;
    if (token.kind === 'INDIVIDUAL') {
      // Give only what has changed: all but the name needs a token that lasts as long.
      const [products, devices] = [idsOf(limit.products), idsOf(limit.devices)];
      const fields = fieldsIn(text('fields'));
      if (!isSame(products, idsOf(token.products))) input.productIds = products;
      if (!isSame(devices, idsOf(token.devices))) input.deviceIds = devices;
      if (!isSame(fields, token.fields)) input.fields = fields;
    }
    await request(ChangeToken, { id: token.id, input });
    toast(t('“{name}” is changed.', { name: input.name }));
    onClose();
    onChanged();
  });
  return (
    <Dialog title={`Change “${token.name}”`} onClose={onClose}>
      <form class="stack" onSubmit={onSubmit(changing.run)}>
        <label>
          Name
          <input name="name" required maxLength={200} autofocus defaultValue={token.name} />
        </label>
        {token.kind === 'INDIVIDUAL' && (
          <>
            <LimitPicker
              legend="Only there (nothing chosen: in the whole workspace)"
              limit={limit}
              onChange={setLimit}
            />
            <label>
              Only these fields (none: all)
              <input
                name="fields"
                placeholder="temperature, humidity"
                maxLength={2_000}
                defaultValue={token.fields?.join(', ') ?? ''}
              />
            </label>
          </>
        )}
        <EndPicker kept={token.expiresAt} />
        <FormEnd action={changing} onCancel={onClose}>
          Save
        </FormEnd>
      </form>
    </Dialog>
  );
}

/** Gives a token another secret, shown once; the old one ends. */
export function RenewTokenDialog({ token, onClose, onChanged }: TokenDialogProps) {
  const [secret, setSecret] = useState<string | null>(null);
  const renewing = useAction(async () => {
    const { renewToken } = await request(RenewToken, { id: token.id });
    setSecret(renewToken.secret);
    onChanged();
  });
  if (secret !== null) return <TokenSecret secret={secret} onClose={onClose} />;
  return (
    <Dialog title={`Renew “${token.name}”?`} onClose={onClose}>
      <form class="stack" onSubmit={onSubmit(() => renewing.run())}>
        <p>It gets another secret. The next request with the present one is refused; rights, limits and end stay.</p>
        <FormEnd action={renewing} onCancel={onClose}>
          Renew
        </FormEnd>
      </form>
    </Dialog>
  );
}

/** null: not limited that way. */
function idsOf(items: readonly { id: string }[] | null): string[] | null {
  return items === null || items.length === 0 ? null : items.map(({ id }) => id);
}

function isSame(one: readonly string[] | null, other: readonly string[] | null): boolean {
  return JSON.stringify(one?.toSorted()) === JSON.stringify(other?.toSorted());
}
