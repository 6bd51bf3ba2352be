import type { Transition } from '../rules/judge-state.ts';

/** Maximum episodes of a rule and a device that are told one by one of what was recorded at once. */
const MAX_TOLD_AT_ONCE = 20;
/** Changes that are kept of an episode: a trace has no more. */
const [FIRST_KEPT, LAST_KEPT] = [20, 80];

/**
 * The changes without those of episodes in the middle, if they are too many: the first may end an alert that is on, the
 * newest say what is. `omitted` of the change behind the gap says how many are left out.
 */
export function fewEpisodes(transitions: readonly Transition[]): Transition[] {
  const episodes = inEpisodes(transitions);
  const isLast = (at: number): boolean => at === 0 || at === episodes.length - 1;
  // One that never fired is not told.
  const told = episodes.filter((episode, at) => isLast(at) || hasFired(episode));
  const omitted = Math.max(0, told.length - MAX_TOLD_AT_ONCE);
  const gone = told.splice(1, omitted);
  const next = told[1]?.[0];
  if (omitted > 0 && next !== undefined) {
    const earlier = gone.reduce((sum, episode) => sum + (episode[0]!.omitted ?? 0), 0);
    told[1] = [{ ...next, omitted: (next.omitted ?? 0) + omitted + earlier }, ...told[1]!.slice(1)];
  }
  return told.flatMap(shortened);
}

function inEpisodes(transitions: readonly Transition[]): Transition[][] {
  const episodes: Transition[][] = [];
  let isOver = true;
  for (const transition of transitions) {
    if (isOver) episodes.push([]);
    episodes.at(-1)!.push(transition);
    isOver = transition.state === 'RESOLVED';
  }
  return episodes;
}

function hasFired(episode: readonly Transition[]): boolean {
  return episode.at(-1)!.firedAt !== null;
}

function shortened(episode: readonly Transition[]): readonly Transition[] {
  if (episode.length <= FIRST_KEPT + LAST_KEPT) return episode;
  return [...episode.slice(0, FIRST_KEPT), ...episode.slice(-LAST_KEPT)];
}
