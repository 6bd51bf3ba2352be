import { TimeAgo } from '../../parts/time-ago.tsx';
import { stateOf } from './endpoint-words.ts';
import type { EndpointParts } from './endpoints.graphql.ts';

/** Whether an endpoint is on, and what is wrong with it. */
export function EndpointState({ endpoint }: { endpoint: EndpointParts }) {
  const [state, text] = stateOf(endpoint);
  const { disabledReason, failingSince } = endpoint;
  return (
    <span class="endpoint-state">
      <span class="chip" data-endpoint={state}>
        {text}
      </span>
      {state === 'stopped' && <small>{disabledReason}</small>}
      {state === 'failing' && (
        <small>
          since <TimeAgo at={failingSince} />
        </small>
      )}
    </span>
  );
}
