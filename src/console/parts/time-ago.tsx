import { createStore, useStore } from '../api/store.ts';
import { agoText, dateTimeText } from './time-text.ts';
import { t } from '../texts/texts.ts';

const TICK_MS = 5_000;
const now = createStore(Date.now());
setInterval(() => now.set(Date.now()), TICK_MS);

/** The present time in milliseconds; draws again every five seconds. */
export function useNow(): number {
  return useStore(now);
}

/** Time since then, kept up to date; the exact time on hover. `empty` stands for never. */
export function TimeAgo({ at, empty = t('never') }: { at: string | null; empty?: string }) {
  const ms = useNow();
  if (at === null) return <span class="muted">{empty}</span>;
  return (
    <time dateTime={at} title={dateTimeText(new Date(at))}>
      {agoText(Date.parse(at), Math.max(ms, Date.parse(at)))}
    </time>
  );
}
