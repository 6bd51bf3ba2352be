import { GraphQLError } from 'graphql';
import { expect, test } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { createErrorFormatter } from '../../src/graphql/transport/format-error.ts';

test('of an error that is nobody’s but ours only an id leaves, under which it is logged', () => {
  const logged: object[] = [];
  const format = createErrorFormatter({ error: (facts) => logged.push(facts), info: () => {}, warn: () => {} });
  const secret = new Error('password=hunter2 in /srv/inlet/src/x.ts');
  const error = new GraphQLError(secret.message, { originalError: secret, path: ['products'] });
  const shown = format(error.toJSON(), error);
  const { errorId } = shown.extensions as { errorId: string };
  expect(shown).toEqual({
    message: `Internal error (${errorId}).`,
    path: ['products'],
    extensions: { code: 'INTERNAL_SERVER_ERROR', errorId },
  });
  expect(logged).toEqual([{ errorId, err: secret, path: ['products'] }]);
});

test('an error of the domain leaves in its own words', () => {
  const format = createErrorFormatter({ error: () => {}, info: () => {}, warn: () => {} });
  const own = new AppError('NOT_FOUND', 'There is no such device.', { details: { id: 'x' } });
  const error = new GraphQLError('wrapped', { originalError: own });
  expect(format(error.toJSON(), error)).toEqual({
    message: 'There is no such device.',
    extensions: { code: 'NOT_FOUND', id: 'x' },
  });
});
