import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { AppError, asAppError, type ErrorCode } from '../errors.ts';
import { verdictOf } from '../domain/measurements/record-body.ts';
import type { RecordOutcome } from '../domain/measurements/recorder.ts';
import type { Rejection } from '../domain/measurements/entry.ts';
import type { Answer } from '../domain/receiving/webhook-receiver.ts';
import type { TopicOutcome, TopicReason } from './topic-message.ts';

const [DONE, NOT_AUTHORISED, OVER_LIMIT, NOTHING_STORABLE] = [0x00, 0x87, 0x97, 0x99] as const;

/** Errors that are no outcome: the message is not acknowledged, or its sender is gone. */
const NO_OUTCOME: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['OVERLOADED', 'UNAVAILABLE', 'UNAUTHENTICATED']);
const REFUSED: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['FORBIDDEN', 'NOT_FOUND']);

/** Outcome of entries: as the record endpoint would have answered, in its words and codes. */
export function outcomeOfEntries(outcome: RecordOutcome): TopicOutcome {
  const { stored, rejected } = outcome;
  const refusal = (reason: TopicReason, code: string | null, detail: string | null): TopicOutcome => ({
    reason,
    code,
    stored,
    rejected: rejected.length,
    answer: JSON.stringify(detail === null ? outcome : { code, detail, ...outcome }),
  });
  switch (verdictOf(outcome)) {
    case 'all':
      return { reason: DONE, code: null, stored, rejected: 0, answer: answerOfAll(outcome) };
    case 'some':
      return refusal(DONE, commonCode(rejected), null);
    case 'limited':
      return refusal(OVER_LIMIT, 'RATE_LIMITED', 'Every entry is over the write limit; none was stored.');
    case 'none':
      return refusal(NOTHING_STORABLE, commonCode(rejected), 'No entry could be stored; "rejected" says why.');
  }
}

/** Outcome of a call: it is kept and can be replayed, whatever became of its entries. */
export function outcomeOfCall({ stored, rejected, body }: Answer): TopicOutcome {
  return { reason: DONE, code: null, stored, rejected, answer: body };
}

/** Outcome of a refused message; throws what is none: OVERLOADED, UNAVAILABLE (a mistake of the server's too), UNAUTHENTICATED. */
export function outcomeOfError(thrown: unknown, log: Logger): TopicOutcome {
  const error = asAppError(thrown);
  if (error === null) {
    const id = randomBytes(6).toString('hex');
    log.error({ err: thrown, id }, 'internal error: a message is not acknowledged');
    // Nothing says that it was stored, and nothing that it never can be.
    throw new AppError('UNAVAILABLE', `Internal error (${id}); the server's log has the details.`);
  }
  if (error.code === 'UNAVAILABLE' && error.cause !== undefined) log.warn({ err: error.cause }, error.message);
  if (NO_OUTCOME.has(error.code)) throw error;
  const reason = REFUSED.has(error.code)
    ? NOT_AUTHORISED
    : error.code === 'RATE_LIMITED'
      ? OVER_LIMIT
      : NOTHING_STORABLE;
  const answer = JSON.stringify({ code: error.code, detail: error.message, stored: 0, rejected: [] });
  return { reason, code: error.code, stored: 0, rejected: 0, answer };
}

function answerOfAll({ stored, ahead }: RecordOutcome): string {
  return `{"stored":${stored},"rejected":[]${ahead === undefined ? '' : `,"ahead":${JSON.stringify(ahead)}`}}`;
}

/** The code that all refused entries share, else NOTHING_STORED. */
function commonCode(rejected: readonly Rejection[]): string {
  const [first, ...others] = new Set(rejected.map(({ code }) => code));
  return first === undefined || others.length > 0 ? 'NOTHING_STORED' : first;
}
