import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { href } from '../../navigation/place.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { toast } from '../../parts/toasts.tsx';
import { levelWords } from '../../rules/rule-words.ts';
import { DeleteRule, type RuleParts, UpdateRule } from '../../rules/rules.graphql.ts';
import { SeverityChip } from '../../rules/severity.tsx';
import { may } from '../../session/session.ts';
import type { ProductField } from './product.graphql.ts';
import { counted, t } from '../../texts/texts.ts';

/** Alerts that fire of one rule. */
export type FiringOf = ReadonlyMap<string, number>;

interface RulesCardProps {
  productId: string;
  rules: readonly RuleParts[];
  fields: readonly ProductField[];
  /** Number of alerts that fire now, by the id of their rule. */
  firing: FiringOf;
  onChanged: () => Promise<void>;
}

/** The rules of a product, each in plain words, with what fires now. */
export function RulesCard({ productId, rules, fields, firing, onChanged }: RulesCardProps) {
  const [doomed, setDoomed] = useState<RuleParts | null>(null);
  const isAllowed = may('CONFIGURE');
  const switching = useAction(async ({ id, name, levels, enabled }: RuleParts) => {
    await request(UpdateRule, { id, input: { name, levels, enabled: !enabled } });
    toast(enabled ? t('“{name}” is off.', { name }) : t('“{name}” watches from now on.', { name }));
    await onChanged();
  });
  const deleting = useAction(async ({ id, name }: RuleParts) => {
    await request(DeleteRule, { id });
    toast(t('The rule “{name}” is gone.', { name }));
    setDoomed(null);
    await onChanged();
  });
  return (
    <section class="card" aria-labelledby="rules-title">
      <div class="card-head">
        <h2 id="rules-title" class="grow">
          Rules
        </h2>
        {isAllowed && (
          <a class="button" href={href(`/products/${productId}/rules/new`)}>
            <Icon name="plus" /> Add rule
          </a>
        )}
      </div>
      {switching.error !== null && <Note kind="error">{switching.error}</Note>}
      {rules.length === 0 ? (
        <p class="hint nothing">
          A rule tells somebody when a value of a device is too high or too low, when the device says nothing, or leaves
          a place.
        </p>
      ) : (
        <ul class="rules">
          {rules.map((rule) => (
            <li key={rule.id} data-off={!rule.enabled}>
              <div class="grow">
                <a href={href(`/products/${productId}/rules/${rule.id}`)}>{rule.name}</a>
                {rule.tags.map((tag) => (
                  <span key={tag} class="chip">
                    {tag}
                  </span>
                ))}
                {rule.levels.map((level) => (
                  <p key={level.severity} class="hint">
                    <SeverityChip severity={level.severity} /> {levelWords(level, rule.forSeconds, fields)}
                  </p>
                ))}
              </div>
              <FiringLink productId={productId} count={firing.get(rule.id) ?? 0} />
              <label class="check">
                <input
                  type="checkbox"
                  role="switch"
                  aria-label={`${rule.name} is on`}
                  checked={rule.enabled}
                  disabled={!isAllowed || switching.busy}
                  onChange={() => void switching.run(rule)}
                />
                {rule.enabled ? 'On' : 'Off'}
              </label>
              {isAllowed && (
                <button
                  type="button"
                  class="quiet danger"
                  aria-label={`Delete ${rule.name}`}
                  onClick={() => setDoomed(rule)}
                >
                  <Icon name="trash" />
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {doomed !== null && (
        <Dialog title={`Delete “${doomed.name}”?`} onClose={() => setDoomed(null)}>
          <p>Its alerts go with it, also those that fire now; nobody is told. This cannot be undone.</p>
          {deleting.error !== null && <Note kind="error">{deleting.error}</Note>}
          <div class="actions">
            <button type="button" onClick={() => setDoomed(null)}>
              Cancel
            </button>
            <button
              type="button"
              class="danger primary"
              disabled={deleting.busy}
              onClick={() => void deleting.run(doomed)}
            >
              Delete rule
            </button>
          </div>
        </Dialog>
      )}
    </section>
  );
}

function FiringLink({ productId, count }: { productId: string; count: number }) {
  if (count === 0) return <span class="firing muted">quiet</span>;
  return (
    <a class="firing" data-firing="true" href={href('/alerts', { product: productId })}>
      {counted(count, '{count} device fires', '{count} devices fire')}
    </a>
  );
}
