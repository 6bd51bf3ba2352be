import { useNow } from './time-ago.tsx';
import { dateTimeText, leftText } from './time-text.ts';

const SOON_MS = 14 * 86_400_000;

interface TimeLeftProps {
  /** The end; null: never. */
  at: string | null;
  /** True where a near end is no reason to act. */
  isCalm?: boolean;
  /** The word once it is past. */
  past?: string;
}

/** The time until an end, kept up to date: amber in its last 14 days, `ended` afterwards; the exact time on hover. */
export function TimeLeft({ at, isCalm = false, past = 'ended' }: TimeLeftProps) {
  const now = useNow();
  if (at === null) return <span class="muted">never</span>;
  const end = Date.parse(at);
  const state = isCalm ? undefined : end <= now ? 'ended' : end - now < SOON_MS ? 'soon' : undefined;
  return (
    <time class="time-left" dateTime={at} title={dateTimeText(new Date(at))} data-state={state}>
      {end <= now ? past : leftText(end, now)}
    </time>
  );
}
