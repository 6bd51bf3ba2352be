import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import type { TokenKind } from '../../api/schema-types.ts';
import { useAction } from '../../api/use-action.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { toast } from '../../parts/toasts.tsx';
import { RevokeToken, type ShownToken } from './access.graphql.ts';
import { NewLink } from './new-link.tsx';
import { NewToken } from './new-token.tsx';
import { tokenWords } from './scope-words.ts';

interface TokenListProps {
  title: string;
  about: string;
  kind: TokenKind;
  /** null: not known yet. */
  tokens: readonly ShownToken[] | null;
  error: string | null;
  /** Id of this page's own token. */
  current: string | null;
  onChanged: () => void;
}

/** Tokens with their rights and last use, and the ways to make and revoke them. */
export function TokenList({ title, about, kind, tokens, error, current, onChanged }: TokenListProps) {
  const [isMaking, setMaking] = useState(false);
  const [isSharing, setSharing] = useState(false);
  const [doomed, setDoomed] = useState<ShownToken | null>(null);
  const list = useRef<HTMLUListElement>(null);
  const making = useRef<HTMLButtonElement>(null);
  const revoked = useRef<{ id: string; row: number } | null>(null);
  useLayoutEffect(() => {
    if (revoked.current === null || tokens === null || tokens.some(({ id }) => id === revoked.current!.id)) return;
    // Move the focus of the removed row to the next one, else the last, and without rows to the button that makes one.
    const buttons = list.current!.querySelectorAll('button');
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
      {error !== null && <Note kind="error">{error}</Note>}
      {tokens?.length === 0 && <p class="nothing">None yet.</p>}
      <ul class="tokens" ref={list}>
        {tokens?.map((token) => (
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
                  <TimeAgo at={token.expiresAt} />
                </dd>
              </div>
            </dl>
            <button
              type="button"
              class="quiet danger"
              onClick={() => setDoomed(token)}
              aria-label={`Revoke ${token.name}`}
            >
              Revoke
            </button>
          </li>
        ))}
      </ul>
      {isSharing && <NewLink onClose={() => setSharing(false)} onMade={onChanged} />}
      {isMaking && <NewToken kind={kind} onClose={() => setMaking(false)} onMade={onChanged} />}
      {doomed !== null && (
        <Revoke
          token={doomed}
          isCurrent={doomed.id === current}
          onClose={() => setDoomed(null)}
          onDone={() => {
            revoked.current = { id: doomed.id, row: tokens?.indexOf(doomed) ?? 0 };
            setDoomed(null);
            onChanged();
          }}
        />
      )}
    </section>
  );
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
    toast(`“${token.name}” is revoked.`);
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
