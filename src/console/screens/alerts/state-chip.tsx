import type { AlertParts } from '../../alerts/alerts.graphql.ts';
import { STATES } from './alert-filter.ts';

/** The state of an alert, with what stands beside it. */
export function StateChip({ alert }: { alert: AlertParts }) {
  const { state, late, acknowledgedAt, snoozedUntil } = alert;
  const isSnoozed = state !== 'RESOLVED' && snoozedUntil !== null && Date.parse(snoozedUntil) > Date.now();
  return (
    <span class="row states">
      <span class="chip" data-state={state}>
        {STATES[state]}
      </span>
      {acknowledgedAt !== null && <span class="chip">acknowledged</span>}
      {isSnoozed && <span class="chip">snoozed</span>}
      {late && <span class="chip">late</span>}
    </span>
  );
}
