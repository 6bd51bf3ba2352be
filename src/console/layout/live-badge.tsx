import { type LiveState, liveState } from '../api/connection.ts';
import { useStore } from '../api/store.ts';
import { t } from '../texts/texts.ts';

const WORDS: Record<LiveState, [name: string, meaning: string]> = {
  live: [t('Live'), t('Connected: what you see is what the server has.')],
  syncing: [t('Syncing'), t('Fetching what is new.')],
  retrying: [t('Retrying'), t('The connection to the server is lost; trying again. What you see may be old.')],
};

/** Shows whether the page is up to date. */
export function LiveBadge() {
  const state = useStore(liveState);
  const [name, meaning] = WORDS[state];
  return (
    <span class="badge" data-state={state} role="status" title={meaning}>
      <i aria-hidden="true" />
      <span>{name}</span>
    </span>
  );
}
