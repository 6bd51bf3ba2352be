import type { JudgeState } from '../rules/judge-state.ts';

/** The state of a rule for a device, with the revision of the rule by which it was judged. */
export interface KeptState {
  revision: number;
  state: JudgeState;
}

/** A state without what most have: no alert, no condition that is met. */
interface Packed {
  r: number;
  at: number | null;
  judged: JudgeState['judgedAt'];
  values: JudgeState['values'];
  heard?: number;
  of?: JudgeState['heardOf'];
  /** '1' for each condition that is met. */
  held: string;
  /** Number of levels, when nothing goes on in any. */
  levels: number | JudgeState['levels'];
  acknowledged?: true;
  run?: JudgeState['run'];
}

/** Key of a rule → its state, as the text of a row. */
export function packStates(states: Readonly<Record<string, KeptState>>): string {
  return JSON.stringify(Object.fromEntries(Object.entries(states).map(([key, kept]) => [key, packed(kept)])));
}

/** The same from the text of a row. */
export function unpackStates(text: string): Record<string, KeptState> {
  const states = JSON.parse(text) as Record<string, Packed>;
  return Object.fromEntries(Object.entries(states).map(([key, state]) => [key, unpacked(state)]));
}

function packed({ revision, state }: KeptState): Packed {
  const { at, judgedAt, values, heardAt, heardOf, held, levels, acknowledged, run } = state;
  const isQuiet = levels.every(
    ({ since, clearSince, dueAt }) => since === null && clearSince === null && dueAt === null,
  );
  return {
    r: revision,
    at,
    judged: judgedAt,
    values,
    ...(heardAt === null ? {} : { heard: heardAt }),
    ...(Object.keys(heardOf).length === 0 ? {} : { of: heardOf }),
    held: held.map((isMet) => (isMet ? '1' : '0')).join(''),
    levels: isQuiet ? levels.length : levels,
    ...(acknowledged ? { acknowledged } : {}),
    ...(run === null ? {} : { run }),
  };
}

function unpacked({ r, at, judged, values, heard, of, held, levels, acknowledged, run }: Packed): KeptState {
  const quiet = { since: null, firedAt: null, clearSince: null, dueAt: null };
  return {
    revision: r,
    state: {
      at,
      judgedAt: judged,
      values,
      heardAt: heard ?? null,
      heardOf: of ?? {},
      held: Array.from(held, (isMet) => isMet === '1'),
      levels: typeof levels === 'number' ? Array.from({ length: levels }, () => ({ ...quiet })) : levels,
      acknowledged: acknowledged ?? false,
      run: run ?? null,
    },
  };
}
