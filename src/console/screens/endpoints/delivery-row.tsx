import { TimeLeft } from '../../parts/time-left.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { dateTimeText } from '../../parts/time-text.ts';
import { DELIVERY_STATES } from './endpoint-words.ts';
import type { DeliveryParts } from './endpoints.graphql.ts';
import { counted, t } from '../../texts/texts.ts';
import { countText } from '../../texts/count-text.ts';

interface DeliveryRowProps {
  delivery: DeliveryParts;
  /** Sends it again; left out: that is not allowed. */
  onRetry?: (() => void) | undefined;
}

/** One delivery, with its tries and what it says behind it. */
export function DeliveryRow({ delivery, onRetry }: DeliveryRowProps) {
  const { type, status, createdAt, nextAttemptAt, attempts, body } = delivery;
  const last = attempts.at(-1);
  return (
    <li>
      <details>
        <summary>
          <span class="chip" data-delivery={status}>
            {DELIVERY_STATES[status]}
          </span>
          <span class="mono">{type}</span>
          <small>
            <TimeAgo at={createdAt} />
          </small>
          <small class="delivery-said">
            {last !== undefined && answerOf(last)}
            {attempts.length > 1 && counted(attempts.length, ', {count} try', ', {count} tries')}
            {status === 'WAITING' && nextAttemptAt !== null && (
              <>
                , again <TimeLeft at={nextAttemptAt} isCalm past="now" />
              </>
            )}
          </small>
        </summary>
        <div class="stack delivery-parts">
          <ol class="stack" aria-label="Tries">
            {attempts.map((attempt) => (
              <li key={attempt.at}>
                <p>
                  {dateTimeText(new Date(attempt.at))}: <strong>{answerOf(attempt)}</strong>{' '}
                  <small>after {countText(Math.round(attempt.durationMs))} ms</small>
                </p>
                {attempt.answer !== null && attempt.answer !== '' && <pre class="said">{attempt.answer}</pre>}
              </li>
            ))}
          </ol>
          <h3>What is sent</h3>
          <pre class="said">{pretty(body)}</pre>
          {onRetry !== undefined && (
            <div>
              <button type="button" onClick={onRetry}>
                Send again
              </button>
            </div>
          )}
        </div>
      </details>
    </li>
  );
}

type Attempt = DeliveryParts['attempts'][number];

/** What came of a try, in a few words. */
export function answerOf({ httpStatus, error }: Attempt): string {
  if (httpStatus === null) return error ?? 'taken';
  return error === null
    ? t('answered {httpStatus}', { httpStatus })
    : t('answered {httpStatus}: {error}', { httpStatus, error });
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
