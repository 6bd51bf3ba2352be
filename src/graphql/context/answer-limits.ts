import { GraphQLError } from 'graphql';
import { AppError } from '../../errors.ts';
import { answerBytes } from './answer-size.ts';

/** Maximum values per answer: fields of all its objects together, columns of histories aside (`PointBudget`). */
export const MAX_VALUES = 100_000;

/** Maximum errors per answer: one for each item of the longest page. */
export const MAX_ERRORS = 500;
/** Maximum bytes per answer for the paths and messages of its errors: a long name is part of every path below it. */
const MAX_ERROR_BYTES = 262_144;

/** QUERY_TOO_COMPLEX: more fields of the operation failed than an answer lists. */
export function tooManyErrors(): AppError {
  return new AppError(
    'QUERY_TOO_COMPLEX',
    `More than ${MAX_ERRORS} fields of this operation failed. Ask for what the token may read, and for less at once.`,
    { details: { limit: 'errors', allowed: MAX_ERRORS } },
  );
}

/** QUERY_TOO_COMPLEX: the answer has more values than one may have. */
export function tooManyValues(): AppError {
  return new AppError(
    'QUERY_TOO_COMPLEX',
    `The answer has more than ${MAX_VALUES} values. Ask for smaller pages ("first"), or for less of each item.`,
    { details: { limit: 'values', allowed: MAX_VALUES } },
  );
}

/** The errors that are told, and one that counts those left out as too long. */
export function toldErrors(errors: readonly GraphQLError[]): readonly GraphQLError[] {
  let bytes = 0;
  // The first one is told in any case: it is about as long as what was asked.
  const end = errors.findIndex(
    ({ message, path }, at) => (bytes += answerBytes([message, path], MAX_ERROR_BYTES)) > MAX_ERROR_BYTES && at > 0,
  );
  if (end === -1) return errors;
  const message = `${errors.length - end} more errors are not told: they are too long.`;
  return [
    ...errors.slice(0, end),
    new GraphQLError(message, { originalError: new AppError('QUERY_TOO_COMPLEX', message) }),
  ];
}
