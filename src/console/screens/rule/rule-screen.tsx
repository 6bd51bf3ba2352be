import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { DataOf } from '../../api/operation.ts';
import type { RuleInput } from '../../api/schema-types.ts';
import { request } from '../../api/request.ts';
import { useStore } from '../../api/store.ts';
import { useAction } from '../../api/use-action.ts';
import { useQuery } from '../../api/use-query.ts';
import { href, navigate } from '../../navigation/place.ts';
import type { ScreenProps } from '../../navigation/routes.ts';
import { useTitle } from '../../navigation/use-title.ts';
import { Note } from '../../parts/note.tsx';
import { onSubmit } from '../../parts/form-texts.ts';
import { toast } from '../../parts/toasts.tsx';
import { useLater } from '../../parts/use-later.ts';
import {
  CreateRule,
  RuleEndpoints,
  RuleGround,
  type RuleParts,
  TestRule,
  UpdateRule,
} from '../../rules/rules.graphql.ts';
import { may, workspaceId } from '../../session/session.ts';
import { WorkspaceCrumb } from '../../session/workspace-crumb.tsx';
import type { Ground } from './ground.ts';
import { MistakeContext, mistakeOf } from '../../parts/mistake.tsx';
import { draftOf, inputOf, newRule, type RuleDraft } from './rule-draft.ts';
import { RuleForm } from './rule-form.tsx';
import { RulePreview } from './rule-preview.tsx';
import './rule.css';
import { t } from '../../texts/texts.ts';

const LATER_MS = 400;
const DAYS_30_MS = 30 * 86_400_000;

/** The screen of one rule, new or saved: what it watches, and what it would have told in the last 30 days. */
export function RuleScreen({ params }: ScreenProps) {
  const [productId, ruleId] = [params['id'] ?? '', params['rule'] ?? ''];
  const { data, error, loading } = useQuery(RuleGround, { id: productId });
  const workspace = useStore(workspaceId);
  const told = useQuery(RuleEndpoints, workspace === null ? null : { productId, workspaceId: workspace });
  // A form begins with what is saved now, not with what was remembered of an earlier visit.
  const isAnswered = useRef(false);
  isAnswered.current ||= !loading && !told.loading;
  const product = isAnswered.current ? (data?.product ?? null) : null;
  const rule = product?.rules.find(({ id }) => id === ruleId) ?? null;
  const title = ruleId === 'new' ? t('New rule') : (rule?.name ?? null);
  useTitle(title);
  const isGone = product !== null && ruleId !== 'new' && rule === null;
  return (
    <main class="page rule">
      <div class="page-head">
        <div class="grow">
          <nav class="crumbs" aria-label="Where this is">
            <WorkspaceCrumb />
            <a href={href('/products')}>Products</a> /{' '}
            <a href={href(`/products/${productId}`)}>{product?.name ?? '…'}</a>
          </nav>
          <h1>{title ?? '…'}</h1>
        </div>
      </div>
      {error !== null && <Note kind="error">{error.message}</Note>}
      {isGone && <Note>The product has no such rule.</Note>}
      {product !== null && !isGone && (
        <RuleEditor
          key={ruleId}
          productId={productId}
          timeZone={product.timeZone}
          ground={product}
          rule={rule}
          told={told.error === null ? told.data : null}
        />
      )}
    </main>
  );
}

interface RuleEditorProps {
  productId: string;
  timeZone: string | null;
  ground: Ground;
  /** null: a new one. */
  rule: RuleParts | null;
  /** The endpoints; null: they are not for who looks. */
  told: DataOf<typeof RuleEndpoints> | null;
}

function RuleEditor({ productId, timeZone, ground, rule, told }: RuleEditorProps) {
  const isAllowed = may('CONFIGURE');
  const [draft, setDraft] = useState<RuleDraft>(() => {
    const named = told?.product.rules.find(({ id }) => id === rule?.id)?.notify.endpoints.map(({ id }) => id);
    return rule === null ? newRule(ground.fields) : draftOf(rule, named ?? null);
  });
  const [deviceId, setDeviceId] = useState<string | null>(null);
  const [isWide, setWide] = useState(false);
  const [focused, setFocused] = useState({ level: 0, condition: 0 });
  const [now] = useState(() => Date.now());
  const range = useMemo(() => ({ from: now - DAYS_30_MS, to: now }), [now]);
  const input = inputOf(draft, ground.fields);
  const trial = useTrial({ productId, input, deviceId: isWide ? null : deviceId, isReady: deviceId !== null, range });
  const form = useRef<HTMLFormElement>(null);
  const saving = useAction(async () => {
    if (input === null) throw new Error(t('Something that is watched is not filled in yet.'));
    if (rule === null) await request(CreateRule, { productId, input });
    else await request(UpdateRule, { id: rule.id, input });
    toast(
      rule === null
        ? t('“{name}” watches from now on.', { name: draft.name })
        : t('“{name}” is saved.', { name: draft.name }),
    );
    navigate(href(`/products/${productId}`));
  });
  const refused = mistakeOf(saving.error);
  const mistake = refused ?? mistakeOf(trial.error?.message ?? null);
  useEffect(() => {
    if (refused !== null) form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [saving.error]);
  const change = (next: RuleDraft): void => {
    saving.clear();
    setDraft(next);
  };
  // Of what cannot be drawn, such as silence, something else that can.
  const conditions = [draft.levels[focused.level]?.conditions[focused.condition], ...draft.levels.flatMap((one) => one.conditions)]; // oxfmt-ignore
  const drawable = ground.fields.filter(({ type }) => type !== 'GEOLOCATION');
  const shown = conditions.find((condition) => drawable.some(({ identifier }) => identifier === condition?.field));
  const field = drawable.find(({ identifier }) => identifier === shown?.field) ?? null;
  return (
    <MistakeContext.Provider value={mistake}>
      <div class="rule-editor">
        <form ref={form} aria-label="Rule" onSubmit={onSubmit(() => saving.run())}>
          <fieldset class="stack rule-form" disabled={!isAllowed}>
            <RuleForm
              ground={ground}
              timeZone={timeZone}
              draft={draft}
              endpoints={told?.workspace.endpoints ?? []}
              deviceId={deviceId}
              onChange={change}
              onFocus={(level, condition) => setFocused({ level, condition })}
            />
            {saving.error !== null && <Note kind="error">{saving.error}</Note>}
            {isAllowed && (
              <div class="row">
                <button type="submit" class="primary" disabled={saving.busy}>
                  {rule === null ? 'Make rule' : 'Save'}
                </button>
                <a class="button" href={href(`/products/${productId}`)}>
                  Cancel
                </a>
              </div>
            )}
          </fieldset>
        </form>
        <RulePreview
          productId={productId}
          ground={ground}
          draft={draft}
          input={input}
          field={field}
          deviceId={deviceId}
          range={range}
          trial={trial}
          isWide={isWide}
          onWide={setWide}
          onDevice={setDeviceId}
        />
      </div>
    </MistakeContext.Provider>
  );
}

interface TrialWish {
  productId: string;
  input: RuleInput | null;
  /** null: every device. */
  deviceId: string | null;
  isReady: boolean;
  range: { from: number; to: number };
}

/** Runs what is typed over stored history, once it is whole and nobody has typed for a moment. The last answer counts. */
function useTrial({ productId, input, deviceId, isReady, range }: TrialWish) {
  const typed = input === null ? null : JSON.stringify({ ...input, name: t('as typed'), notify: undefined });
  const settled = useLater(typed, LATER_MS);
  const variables = useMemo(() => {
    if (settled === null || !isReady) return null;
    return {
      productId,
      input: JSON.parse(settled) as RuleInput,
      deviceIds: deviceId === null ? null : [deviceId],
      from: new Date(range.from).toISOString(),
      to: new Date(range.to).toISOString(),
    };
  }, [settled, isReady, productId, deviceId, range]);
  const { data, error, loading } = useQuery(TestRule, variables);
  return { episodes: data?.testRule ?? null, error, isBusy: loading || typed !== settled };
}
