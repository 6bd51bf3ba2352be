import { useEffect } from 'preact/hooks';
import { useStore } from '../../api/store.ts';
import { useQuery } from '../../api/use-query.ts';
import { href } from '../../navigation/place.ts';
import { useTitle } from '../../navigation/use-title.ts';
import { Note } from '../../parts/note.tsx';
import { countText } from '../../texts/count-text.ts';
import { loadSession, may, session, workspaceId } from '../../session/session.ts';
import { Access } from './access.graphql.ts';
import { Members } from './members.tsx';
import { PasswordForm } from './password-form.tsx';
import { TokenList } from './token-list.tsx';
import { Workspaces } from './workspaces.tsx';
import './access.css';
import { counted, t } from '../../texts/texts.ts';

/** The screen of tokens, members, workspaces and plans: to each reader only the parts that are theirs. */
export function AccessScreen() {
  useTitle(t('Access'));
  const workspace = useStore(workspaceId);
  const now = useStore(session);
  const [isSomewhere, isAdmin] = [workspace !== null, may('ADMIN')];
  // A person's token has no limits, and neither has one that may ADMIN.
  const isPerson = now.state === 'in' && now.viewer.user !== null;
  const seesMembers = may('READ') && (isPerson || isAdmin);
  const { data, error, loading, fresh, refetch } = useQuery(Access, {
    id: workspace ?? '',
    isSomewhere,
    seesMembers,
    isAdmin,
  });
  useEffect(() => {
    // Somebody has taken a right away meanwhile: ask again for what is left.
    if (error?.code === 'FORBIDDEN') void loadSession();
  }, [error]);
  // What another workspace answered is not shown under this one's name.
  if (!fresh && loading)
    return (
      <main class="page access">
        <h1>Access</h1>
        <div class="waiting lists" aria-busy="true" />
      </main>
    );
  const { viewer, workspace: here, plans } = (fresh ? data : null) ?? {};
  const name = viewer?.workspaces.find(({ id }) => id === workspace)?.name ?? t('the workspace');
  const isOperator = viewer?.user?.operator ?? false;
  const onChanged = (): void => void refetch();
  return (
    <main class="page access">
      <header class="page-head">
        <h1 class="grow">Access</h1>
        {(isAdmin || isOperator) && (
          <div class="row">
            <a class="button" href={href('/audit')}>
              Audit log
            </a>
            {isOperator && (
              <a class="button" href={href('/users')}>
                Users
              </a>
            )}
            {isOperator && (
              <a class="button" href={href('/server')}>
                Server
              </a>
            )}
          </div>
        )}
      </header>
      {error !== null && <Note kind="error">{error.message}</Note>}
      {isAdmin && here?.tokens !== undefined && (
        <TokenList
          title={`Tokens of ${name}`}
          about="For devices and services. Each may do what it was given and nothing else."
          kind="INDIVIDUAL"
          tokens={here.tokens}
          current={viewer?.token.id ?? null}
          onChanged={onChanged}
        />
      )}
      {workspace !== null && seesMembers && here?.members !== undefined && (
        <Members
          workspaceId={workspace}
          name={name}
          members={here.members}
          invitations={here.invitations ?? []}
          refetch={refetch}
          isAdmin={isAdmin}
          isOperator={isOperator}
        />
      )}
      {viewer?.user != null && (
        <>
          <TokenList
            title="Your tokens"
            about={`They act as you, ${viewer.user.email}. Signing in makes one as well.`}
            kind="PERSONAL"
            tokens={viewer.tokens}
            current={viewer.token.id}
            onChanged={onChanged}
          />
          <PasswordForm />
        </>
      )}
      <Workspaces workspaces={viewer?.workspaces ?? []} isOperator={isOperator} onChanged={onChanged} />
      <section class="card" aria-label="Plans">
        <header class="card-head">
          <h2>Plans</h2>
        </header>

        <table>
          <thead>
            <tr>
              <th>Plan</th>
              <th class="number">Devices of a workspace</th>
              <th class="number">History is kept</th>
            </tr>
          </thead>
          <tbody>
            {plans?.map(({ slug, name: plan, deviceAllowance, retentionDays }) => (
              <tr key={slug}>
                <td>
                  {plan} <small class="mono">{slug}</small>
                </td>
                <td class="number">{deviceAllowance === null ? 'any number' : countText(deviceAllowance)}</td>
                <td class="number">
                  {retentionDays === null ? 'for ever' : counted(retentionDays, '{count} day', '{count} days')}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </main>
  );
}
