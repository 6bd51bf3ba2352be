import { useLayoutEffect, useRef } from 'preact/hooks';
import { request } from '../../api/request.ts';
import type { FieldType } from '../../api/schema-types.ts';
import { useAction } from '../../api/use-action.ts';
import { AddField } from '../../decoding/decoding.graphql.ts';
import { TYPE_WORDS } from '../../fields/type-words.ts';
import { proposedMeaning } from '../../fields/meanings.ts';
import { Note } from '../../parts/note.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { toast } from '../../parts/toasts.tsx';
import { may } from '../../session/session.ts';
import { IgnoreSuggestion } from './product.graphql.ts';

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

/** Identifiers that devices send and the product has no field for: one click adds a field, another hides it. */
export function SuggestionsCard({ productId, suggestions, onChanged }: SuggestionsCardProps) {
  const adding = useAction(async ({ identifier, name, unit, type }: Suggestion) => {
    const meaning = proposedMeaning({ identifier, name, unit, type });
    await request(AddField, { productId, input: { identifier, name, unit, type, meaning } });
    toast(`The field ${identifier} is there; what comes from now on is stored.`);
    done();
  });
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
  const error = adding.error ?? ignoring.error;
  return (
    <section class="card" aria-labelledby="suggestions-title">
      <div class="card-head">
        <h2 id="suggestions-title">Sent, but no field yet</h2>
      </div>
      {error !== null && <Note kind="error">{error}</Note>}
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
                <button
                  type="button"
                  disabled={adding.busy}
                  aria-label={`Add ${suggestion.identifier}`}
                  onClick={() => void adding.run(suggestion)}
                >
                  Add
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
    </section>
  );
}
