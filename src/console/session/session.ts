import { ApiError } from '../api/api-error.ts';
import { connection, disconnect } from '../api/connection.ts';
import type { DataOf } from '../api/operation.ts';
import { request } from '../api/request.ts';
import { onSessionDoubt, onSessionEnd } from '../api/session-end.ts';
import { createStore } from '../api/store.ts';
import type { TokenScope } from '../api/schema-types.ts';
import { forgetAnswers } from '../api/use-query.ts';
import { Viewer } from './session.graphql.ts';
import { t } from '../texts/texts.ts';

type ViewerData = DataOf<typeof Viewer>['viewer'];

/** The state of the session; `unknown` until the server has answered, `failed` when it could not. */
type Session =
  | { state: 'unknown' }
  | { state: 'out' }
  | { state: 'failed'; message: string }
  | { state: 'in'; viewer: ViewerData };

const WORKSPACE = 'inlet.workspace';
const AGAIN_MS = 3_000;

/** The session of this page. */
export const session = createStore<Session>({ state: 'unknown' });

/** The id of the chosen workspace; null without a session or workspaces. */
export const workspaceId = createStore<string | null>(null);

onSessionEnd(() => {
  if (session.get().state === 'in') end();
});

onSessionDoubt(() => void loadSession().then(() => session.get().state === 'in' && connection()));

function end(): void {
  disconnect();
  forgetAnswers();
  session.set({ state: 'out' });
}

/** The last workspace of this browser; null: none yet. */
export function lastWorkspaceId(): string | null {
  return localStorage.getItem(WORKSPACE);
}

/** Asks the server for the session, and retries while it cannot be reached. */
export async function loadSession(): Promise<void> {
  try {
    const { viewer } = await request(Viewer, {});
    const last = lastWorkspaceId();
    const known = viewer.workspaces.find(({ id }) => id === last) ?? viewer.workspaces[0];
    if (known === undefined) workspaceId.set(null);
    else chooseWorkspace(known.id);
    session.set({ state: 'in', viewer });
  } catch (error) {
    if (error instanceof ApiError && error.code === 'UNAUTHENTICATED') {
      session.set({ state: 'out' });
      return;
    }
    session.set({ state: 'failed', message: error instanceof Error ? error.message : String(error) });
    setTimeout(() => void loadSession(), AGAIN_MS);
  }
}

/** Chooses a workspace, also for later visits. */
export function chooseWorkspace(id: string): void {
  localStorage.setItem(WORKSPACE, id);
  workspaceId.set(id);
}

/** True when the scope is there in the workspace; left out: the one chosen. */
export function may(scope: TokenScope, id: string | null = workspaceId.get()): boolean {
  const now = session.get();
  if (now.state !== 'in') return false;
  return now.viewer.workspaces.find((workspace) => workspace.id === id)?.scopes.includes(scope) ?? false;
}

/** Signs in with a token, or with an email address and a password. Throws ApiError in the server's words. */
export async function signIn(credentials: { token: string } | { email: string; password: string }): Promise<void> {
  await callSession('POST', credentials);
  forgetAnswers();
  await loadSession();
}

/** Signs out; revokes a session that began with a password. */
export async function signOut(): Promise<void> {
  await callSession('DELETE');
  end();
}

async function callSession(method: 'POST' | 'DELETE', body?: unknown): Promise<void> {
  const response = await fetch('/console/session', {
    method,
    headers: { 'Content-Type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  }).catch(() => {
    throw new ApiError('OFFLINE', t('The server cannot be reached.'));
  });
  if (response.ok) return;
  const { detail, code } = (await response.json().catch(() => ({}))) as { detail?: string; code?: string };
  throw new ApiError(
    code ?? String(response.status),
    detail ?? t('The server answered {status}.', { status: response.status }),
  );
}
