import { useStore } from '../../api/store.ts';
import { useQuery } from '../../api/use-query.ts';
import { useTitle } from '../../navigation/use-title.ts';
import { Note } from '../../parts/note.tsx';
import { workspaceId } from '../../session/session.ts';
import { OwnAccess, WorkspaceMembers, WorkspaceTokens } from './access.graphql.ts';
import { Members } from './members.tsx';
import { PasswordForm } from './password-form.tsx';
import { TokenList } from './token-list.tsx';
import { Workspaces } from './workspaces.tsx';
import './access.css';

/** The screen of tokens, members, workspaces and plans. */
export function AccessScreen() {
  useTitle('Access');
  const workspace = useStore(workspaceId);
  const own = useQuery(OwnAccess, {});
  const tokens = useQuery(WorkspaceTokens, workspace === null ? null : { id: workspace });
  const members = useQuery(WorkspaceMembers, workspace === null ? null : { id: workspace });
  // Show all lists at once: one after the other they would push each other down.
  const isWaiting = [own, tokens, members].some(({ data, loading }) => data === null && loading);
  const viewer = own.data?.viewer ?? null;
  const name = viewer?.workspaces.find(({ id }) => id === workspace)?.name ?? 'the workspace';
  const refetch = (): void => {
    void own.refetch();
    void tokens.refetch();
  };
  if (isWaiting)
    return (
      <main class="page access">
        <h1>Access</h1>
        <div class="waiting lists" aria-busy="true" />
      </main>
    );
  return (
    <main class="page access">
      <h1>Access</h1>
      {own.error !== null && <Note kind="error">{own.error.message}</Note>}
      <TokenList
        title={`Tokens of ${name}`}
        about="For devices and services. Each may do what it was given and nothing else."
        kind="INDIVIDUAL"
        tokens={tokens.data?.workspace.tokens ?? null}
        error={tokens.error?.message ?? null}
        current={viewer?.token.id ?? null}
        onChanged={refetch}
      />
      {workspace !== null && (
        <Members
          workspaceId={workspace}
          name={name}
          members={members.data?.workspace.members ?? []}
          error={members.error?.message ?? null}
          refetch={members.refetch}
          isOperator={viewer?.user?.operator ?? false}
        />
      )}
      {viewer?.user != null && (
        <>
          <TokenList
            title="Your tokens"
            about={`They act as you, ${viewer.user.email}. Signing in makes one as well.`}
            kind="PERSONAL"
            tokens={viewer.tokens}
            error={null}
            current={viewer.token.id}
            onChanged={refetch}
          />
          <PasswordForm />
        </>
      )}
      <Workspaces
        workspaces={viewer?.workspaces ?? []}
        isOperator={viewer?.user?.operator ?? false}
        onChanged={refetch}
      />
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
            {own.data?.plans.map(({ slug, name: plan, deviceAllowance, retentionDays }) => (
              <tr key={slug}>
                <td>
                  {plan} <small class="mono">{slug}</small>
                </td>
                <td class="number">{deviceAllowance?.toLocaleString() ?? 'any number'}</td>
                <td class="number">{retentionDays === null ? 'for ever' : `${retentionDays} days`}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </main>
  );
}
