import { useEffect, useState } from 'preact/hooks';
import { wordsOf } from '../../api/api-error.ts';
import type { DataOf } from '../../api/operation.ts';
import { request } from '../../api/request.ts';
import { type RunParts, TestDecoder } from '../../decoding/decoding.graphql.ts';
import { useLater } from '../../parts/use-later.ts';
import { type PrintedLine, readTraced, traceConsole } from './traced-console.ts';
import { isBlank, type TrialInput, trialOf } from './trial-input.ts';

const LATER_MS = 300;

/** The result of a trial. The previous run stays until the next is there. */
interface Trial {
  run: (RunParts & { printed: PrintedLine[] }) | null;
  /** Reason that it could not be tried at all, in the server's words. */
  error: string | null;
  /** True while the shown source or input differ from those of the run. */
  busy: boolean;
  again: () => void;
}

/** Runs the source on the input after 300 ms without typing, unless there is nothing to run. */
export function useTrial(productId: string, source: string, input: TrialInput): Trial {
  const [count, setCount] = useState(0);
  const wanted = JSON.stringify({ source, input, count });
  const given = useLater(wanted, LATER_MS);
  const [state, setState] = useState<Pick<Trial, 'run' | 'error'> & { of: string }>({ run: null, error: null, of: '' });
  useEffect(() => {
    const trial = JSON.parse(given) as { source: string; input: TrialInput };
    if (isNothing(trial.source, trial.input)) return;
    const asked = new AbortController();
    const traced = traceConsole(trial.source);
    const variables = { productId, source: traced.source, ...trialOf(trial.input) };
    const show = ({ testDecoder: run }: DataOf<typeof TestDecoder>): void => {
      const { error } = run;
      const column = error?.line == null || error.column === null ? null : traced.columnOf(error.line, error.column);
      const placed = error === null ? null : { ...error, column };
      setState({ run: { ...run, error: placed, printed: readTraced(run.console) }, error: null, of: given });
    };
    request(TestDecoder, variables, asked.signal).then(show, (error: unknown) => {
      if (!asked.signal.aborted) setState({ run: null, error: wordsOf(error), of: given });
    });
    return () => asked.abort();
  }, [productId, given]);
  const again = (): void => setCount(count + 1);
  if (isNothing(source, input)) return { run: null, error: null, busy: false, again };
  return { run: state.run, error: state.error, busy: state.of !== wanted, again };
}

function isNothing(source: string, input: TrialInput): boolean {
  return source.trim() === '' || isBlank(input);
}
