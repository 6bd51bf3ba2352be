import { href } from '../../navigation/place.ts';
import { LOCALE } from '../../texts/languages.ts';
import { countText } from '../../texts/count-text.ts';
import { counted } from '../../texts/texts.ts';

const DAY = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** The values that were stored on each of the last days, as bars. */
export function DaysCard({ days }: { days: readonly { day: string; values: number }[] }) {
  const most = Math.max(1, ...days.map(({ values }) => values));
  const today = days.at(-1)?.values ?? 0;
  return (
    <section class="card" aria-label="Values a day">
      <header class="card-head">
        <h2 class="grow">
          <a href={href('/devices', { order: 'heard', down: '1' })}>Values a day</a>
        </h2>
        <span>
          <strong>{countText(today)}</strong> <small>today (UTC)</small>
        </span>
      </header>
      <ol class="days">
        {days.map(({ day, values }) => (
          <li key={day} title={`${DAY.format(new Date(day))}: ${countText(values)}`}>
            <i style={{ height: `${(100 * values) / most}%` }} />
            <small>{DAY.format(new Date(day))}</small>
            <span class="unseen">: {counted(values, '{count} value', '{count} values')}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
