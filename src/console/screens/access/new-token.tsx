import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import type { TokenKind, TokenScope } from '../../api/schema-types.ts';
import { useAction } from '../../api/use-action.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { onSubmit, textsOf } from '../../parts/form-texts.ts';
import { may, workspaceId } from '../../session/session.ts';
import { MakeToken } from './access.graphql.ts';
import { EndPicker, endIn } from './end-picker.tsx';
import { LimitPicker, type TokenLimit } from './limit-picker.tsx';
import { SCOPE_WORDS, SCOPES } from './scope-words.ts';
import { fieldsIn } from './token-fields.ts';
import { TokenSecret } from './token-secret.tsx';

interface NewTokenProps {
  kind: TokenKind;
  onClose: () => void;
  onMade: () => void;
}

/** Makes a token, and shows its secret once. */
export function NewToken({ kind, onClose, onMade }: NewTokenProps) {
  const [scopes, setScopes] = useState<readonly TokenScope[]>(['RECORD']);
  const [limit, setLimit] = useState<TokenLimit>({ products: [], devices: [] });
  const [secret, setSecret] = useState<string | null>(null);
  const making = useAction(async (form: HTMLFormElement) => {
    const text = textsOf(form);
    const ids = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id);
    const fields = fieldsIn(text('fields'));
    const individual = {
      workspaceId: workspaceId.get(),
      scopes: SCOPES.filter((scope) => scopes.includes(scope)),
      ...(limit.products.length === 0 ? {} : { productIds: ids(limit.products) }),
      ...(limit.devices.length === 0 ? {} : { deviceIds: ids(limit.devices) }),
      ...(fields === null ? {} : { fields }),
    };
    const { createToken } = await request(MakeToken, {
      input: {
        kind,
        name: text('name').trim(),
        ...endIn(text),
        ...(kind === 'INDIVIDUAL' ? individual : {}),
      },
    });
    setSecret(createToken.secret);
    onMade();
  });
  if (secret !== null) return <TokenSecret secret={secret} onClose={onClose} />;
  return (
    <Dialog title={kind === 'PERSONAL' ? 'New token of yours' : 'New token of the workspace'} onClose={onClose}>
      <form class="stack" onSubmit={onSubmit(making.run)}>
        <label>
          Name
          <input name="name" required maxLength={200} autofocus placeholder="what it is for" />
        </label>
        {kind === 'INDIVIDUAL' && (
          <>
            <fieldset class="scopes">
              <legend>It may</legend>
              {SCOPES.filter((scope) => may(scope)).map((scope) => (
                <label key={scope} class="check">
                  <input
                    type="checkbox"
                    checked={scopes.includes(scope)}
                    onChange={() =>
                      setScopes(scopes.includes(scope) ? scopes.filter((one) => one !== scope) : [...scopes, scope])
                    }
                  />
                  {SCOPE_WORDS[scope]}
                </label>
              ))}
            </fieldset>
            <LimitPicker
              legend="Only there (nothing chosen: in the whole workspace)"
              limit={limit}
              onChange={setLimit}
            />
            <label>
              Only these fields (none: all)
              <input name="fields" placeholder="temperature, humidity" maxLength={2_000} />
            </label>
          </>
        )}
        <EndPicker />
        <FormEnd action={making} onCancel={onClose}>
          Make token
        </FormEnd>
      </form>
    </Dialog>
  );
}
