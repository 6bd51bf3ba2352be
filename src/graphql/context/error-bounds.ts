import { type ExecutionResult, GraphQLError } from 'graphql';
import { AppError } from '../../errors.ts';
import { answerBytes } from './answer-size.ts';

/** Of one answer: one for each item of the longest page. */
export const MOST_ERRORS = 500;
/** Of the paths and messages of all of them: a name of a megabyte stands in the path of each. */
const MOST_BYTES = 262_144;

/** What a mutation may answer with: items of long lists, and what is looked up below them. */
export const MOST_VALUES = 250_000;

/** QUERY_TOO_COMPLEX: more of the operation's fields failed than are told. */
export function tooManyErrors(): AppError {
  return new AppError(
    'QUERY_TOO_COMPLEX',
    `More than ${MOST_ERRORS} fields of this operation failed. Ask for what the token may read, and for less at once.`,
    { details: { limit: 'errors', allowed: MOST_ERRORS } },
  );
}

/** QUERY_TOO_COMPLEX: too much is asked of each item of long lists. */
export function tooManyValues(): AppError {
  return new AppError(
    'QUERY_TOO_COMPLEX',
    `The answer has more than ${MOST_VALUES} values in long lists. Ask for each list once, and for less of its items.`,
    { details: { limit: 'values', allowed: MOST_VALUES } },
  );
}

/** What stands for each that failed beyond those: graphql-js takes one with a path as it is, and makes none itself. */
export const ONE_OF_MANY = new GraphQLError('Too many fields failed.', { path: [], originalError: tooManyErrors() });

/** The result with as many of its errors as are told. */
export function withinErrors(result: ExecutionResult): ExecutionResult {
  const { errors } = result;
  if (errors === undefined) return result;
  const told = toldErrors(errors);
  return told === errors ? result : { ...result, errors: told };
}

/** Those that are told, and how many are not because they are too long. */
export function toldErrors(errors: readonly GraphQLError[]): readonly GraphQLError[] {
  let bytes = 0;
  // The first one in any case: it is about as long as what was asked.
  const end = errors.findIndex(
    ({ message, path }, at) => (bytes += answerBytes([message, path], MOST_BYTES)) > MOST_BYTES && at > 0,
  );
  if (end === -1) return errors;
  const message = `${errors.length - end} more errors are not told: they are too long.`;
  return [
    ...errors.slice(0, end),
    new GraphQLError(message, { originalError: new AppError('QUERY_TOO_COMPLEX', message) }),
  ];
}
