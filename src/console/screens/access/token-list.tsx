import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import type { TokenKind } from '../../api/schema-types.ts';
import { useAction } from '../../api/use-action.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { TimeLeft } from '../../parts/time-left.tsx';
import { toast } from '../../parts/toasts.tsx';
import { may } from '../../session/session.ts';
import { RevokeToken, type ShownToken } from './access.graphql.ts';
import { ChangeTokenDialog, RenewTokenDialog } from './change-token.tsx';
import { NewLink } from './new-link.tsx';
import { NewToken } from './new-token.tsx';
import { tokenWords } from './scope-words.ts';
import { t } from '../../texts/texts.ts';

interface TokenListProps {
  title: string;
  about: string;
  kind: TokenKind;
  tokens: readonly ShownToken[];
  /** Id of this page's own token. */
  current: string | null;
  onChanged: () => void;
}

/** Tokens with their rights and last use, and the ways to make and revoke them. */
export function TokenList({ title, about, kind, tokens, current, onChanged }: TokenListProps) {
  const [isMaking, setMaking] = useState(false);
  const [isSharing, setSharing] = useState(false);
  const [changed, setChanged] = useState<{ how: 'change' | 'renew'; token: ShownToken } | null>(null);
  const [doomed, setDoomed] = useState<ShownToken | null>(null);
  const list = useRef<HTMLUListElement>(null);
  const making = useRef<HTMLButtonElement>(null);
  const revoked = useRef<{ id: string; row: number } | null>(null);
  useLayoutEffect(() => {
    if (revoked.current === null || tokens.some(({ id }) => id === revoked.current!.id)) return;
    // Move the focus of the removed row to the next one, else the last, and without rows to the button that makes one.
    const buttons = list.current!.querySelectorAll<HTMLElement>('button.danger');
    if (document.activeElement === document.body)
      (buttons[Math.min(revoked.current.row, buttons.length - 1)] ?? making.current)?.focus();
    revoked.current = null;
  }, [tokens]);
  return (
    <section class="card" aria-label={title}>
      <header class="card-head">
        <div class="grow">
          <h2>{title}</h2>
          <p class="hint">{about}</p>
        </div>
        {kind === 'INDIVIDUAL' && (
          <button type="button" onClick={() => setSharing(true)}>
            <Icon name="plus" /> Public link
          </button>
        )}
        <button ref={making} type="button" onClick={() => setMaking(true)}>
          <Icon name="plus" /> Token
        </button>
      </header>
      {tokens.length === 0 && <p class="nothing">None yet.</p>}
      <ul class="tokens" ref={list}>
        {tokens.map((token) => (
          <li key={token.id}>
            <div class="grow">
              <strong>{token.name}</strong> {token.id === current && <span class="chip">this session</span>}
              <p class="hint">{tokenWords(token)}</p>
            </div>
            <dl>
              <div>
                <dt>Used</dt>
                <dd>
                  <TimeAgo at={token.lastUsedAt} />
                </dd>
              </div>
              <div>
                <dt>Made</dt>
                <dd>
                  <TimeAgo at={token.createdAt} />
                </dd>
              </div>
              <div>
                <dt>Ends</dt>
                <dd>
                  <TimeLeft at={token.expiresAt} />
                </dd>
              </div>
            </dl>
            <div class="row">
              {mayChange(token) && (
                <button
                  type="button"
                  class="quiet"
                  onClick={() => setChanged({ how: 'change', token })}
                  aria-label={`Change ${token.name}`}
                >
                  Change
                </button>
              )}
              {mayChange(token) && kind === 'INDIVIDUAL' && (
                <button
                  type="button"
                  class="quiet"
                  onClick={() => setChanged({ how: 'renew', token })}
                  aria-label={`Renew ${token.name}`}
                >
                  Renew
                </button>
              )}
              <button
                type="button"
                class="quiet danger"
                onClick={() => setDoomed(token)}
                aria-label={`Revoke ${token.name}`}
              >
                Revoke
              </button>
            </div>
          </li>
        ))}
      </ul>
      {isSharing && <NewLink onClose={() => setSharing(false)} onMade={onChanged} />}
      {isMaking && <NewToken kind={kind} onClose={() => setMaking(false)} onMade={onChanged} />}
      {changed?.how === 'change' && (
        <ChangeTokenDialog token={changed.token} onClose={() => setChanged(null)} onChanged={onChanged} />
      )}
      {changed?.how === 'renew' && (
        <RenewTokenDialog token={changed.token} onClose={() => setChanged(null)} onChanged={onChanged} />
      )}
      {doomed !== null && (
        <Revoke
          token={doomed}
          isCurrent={doomed.id === current}
          onClose={() => setDoomed(null)}
          onDone={() => {
            revoked.current = { id: doomed.id, row: tokens.indexOf(doomed) };
            setDoomed(null);
            onChanged();
          }}
        />
      )}
    </section>
  );
}

/** Somebody's own, or one with no right that is not there. */
function mayChange({ kind, scopes }: ShownToken): boolean {
  return kind === 'PERSONAL' || scopes.every((scope) => may(scope));
}

interface RevokeProps {
  token: ShownToken;
  isCurrent: boolean;
  onClose: () => void;
  onDone: () => void;
}

function Revoke({ token, isCurrent, onClose, onDone }: RevokeProps) {
  const revoking = useAction(async () => {
    await request(RevokeToken, { id: token.id });
    toast(t('“{name}” is revoked.', { name: token.name }));
    onDone();
  });
  return (
    <Dialog title={`Revoke “${token.name}”?`} onClose={onClose}>
      <p>
        The next request with it is refused.
        {token.lastUsedAt !== null && (
          <>
            {' '}
            It was last used <TimeAgo at={token.lastUsedAt} />.
          </>
        )}
        {isCurrent && ' It is the one that this page uses: you will be signed out.'}
      </p>
      {revoking.error !== null && <Note kind="error">{revoking.error}</Note>}
      <div class="actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="danger primary" disabled={revoking.busy} onClick={() => void revoking.run()}>
          Revoke
        </button>
      </div>
    </Dialog>
  );
}
