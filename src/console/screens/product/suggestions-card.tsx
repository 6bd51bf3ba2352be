import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import type { FieldType } from '../../api/schema-types.ts';
import { useAction } from '../../api/use-action.ts';
import { FieldSheet } from '../../fields/field-sheet.tsx';
import { proposedMeaning } from '../../fields/meanings.ts';
import { TYPE_WORDS } from '../../fields/type-words.ts';
import { Note } from '../../parts/note.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { toast } from '../../parts/toasts.tsx';
import { may } from '../../session/session.ts';
import { IgnoreSuggestion } from './product.graphql.ts';
import { t } from '../../texts/texts.ts';

interface Suggestion {
  identifier: string;
  name: string | null;
  unit: string | null;
  type: FieldType;
  seen: number;
  lastValue: unknown;
  lastSeenAt: string;
}

interface SuggestionsCardProps {
  productId: string;
  suggestions: readonly Suggestion[];
  onChanged: () => void;
}

/** Identifiers that devices send and the product has no field for: they become fields, or are hidden. */
export function SuggestionsCard({ productId, suggestions, onChanged }: SuggestionsCardProps) {
  const [added, setAdded] = useState<Suggestion | null>(null);
  const ignoring = useAction(async (identifier: string) => {
    await request(IgnoreSuggestion, { productId, identifier });
    done();
  });
  const list = useRef<HTMLUListElement>(null);
  const isDone = useRef(false);
  useLayoutEffect(() => {
    // Move the focus of the removed row to the next one, after the last to the fields.
    if (isDone.current && document.activeElement === document.body)
      (list.current?.querySelector('button') ?? document.getElementById('fields-title'))?.focus();
    isDone.current = false;
  }, [suggestions.length]);
  const done = (): void => {
    isDone.current = true;
    onChanged();
  };
  if (suggestions.length === 0) return null;
  return (
    <section class="card" aria-labelledby="suggestions-title">
      <div class="card-head">
        <h2 id="suggestions-title">Sent, but no field yet</h2>
      </div>
      {ignoring.error !== null && <Note kind="error">{ignoring.error}</Note>}
      <ul class="suggestions" ref={list}>
        {suggestions.map((suggestion) => (
          <li key={suggestion.identifier}>
            <div class="grow">
              <strong class="mono">{suggestion.identifier}</strong>{' '}
              <small>
                {suggestion.name ?? ''} {TYPE_WORDS[suggestion.type]}
                {suggestion.unit !== null && `, ${suggestion.unit}`}
                {proposedMeaning(suggestion) !== 'GAUGE' && `, ${proposedMeaning(suggestion).toLowerCase()}`} · last{' '}
                {JSON.stringify(suggestion.lastValue)} · {suggestion.seen}× · <TimeAgo at={suggestion.lastSeenAt} />
              </small>
            </div>
            {may('CONFIGURE') && (
              <>
                <button type="button" aria-label={`Add ${suggestion.identifier}`} onClick={() => setAdded(suggestion)}>
                  Add…
                </button>
                <button
                  type="button"
                  class="quiet"
                  disabled={ignoring.busy}
                  aria-label={`Ignore ${suggestion.identifier}`}
                  onClick={() => void ignoring.run(suggestion.identifier)}
                >
                  Ignore
                </button>
              </>
            )}
          </li>
        ))}
      </ul>
      {added !== null && (
        <FieldSheet
          productId={productId}
          field={null}
          suggested={added}
          onClose={() => setAdded(null)}
          onSaved={(identifier) => {
            toast(t('The field {identifier} is there; what comes from now on is stored.', { identifier }));
            done();
          }}
        />
      )}
    </section>
  );
}
