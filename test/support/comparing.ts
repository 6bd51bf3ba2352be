import type { ExecutionArgs, ExecutionResult } from 'graphql';
import type { GraphqlContext } from '../../src/graphql/context/graphql-context.ts';
import type { Execute } from '../../src/graphql/operation/compiled-operation.ts';

/** Maximum changes of what is asked for while two ways to answer are compared. */
const MOST_CHANGES = 5;

/** Gives each further run a budget of its own. */
function anew(args: ExecutionArgs): ExecutionArgs {
  const context = args.contextValue as GraphqlContext | undefined;
  return context === undefined ? args : { ...args, contextValue: context.again() };
}

/** Runs a query both ways, compiled and by graphql-js, and throws where the answers differ in anything that a client could see. */
export function comparing(compiled: Execute, execute: Execute): Execute {
  return async (args) => {
    let expected = await execute(anew(args));
    for (let changes = 0; ; changes += 1) {
      const actual = await compiled(changes === 0 ? args : anew(args));
      if (visible(actual) === visible(expected)) return actual;
      // Others write meanwhile: only what is the same before and after must be the same in between.
      const later = await execute(anew(args));
      if (visible(actual) === visible(later)) return actual;
      if (visible(later) === visible(expected) || changes === MOST_CHANGES)
        throw new Error(`Compiled, the answer is ${visible(actual)}, with graphql-js ${visible(later)}.`);
      expected = later;
    }
  };
}

type Cause = Error & { code?: string };

/** Errors in the order of their places: the one in which they happen is free. */
function visible({ data, errors }: ExecutionResult): string {
  const seen = errors?.map(({ path, locations, message, originalError }) =>
    JSON.stringify([path, locations, message, (originalError as Cause | undefined)?.code]),
  );
  return JSON.stringify({ data, errors: seen?.toSorted() });
}
