import { href } from '../../navigation/place.ts';
import { t } from '../../texts/texts.ts';
import { countText } from '../../texts/count-text.ts';
import { LOCALE } from '../../texts/languages.ts';

interface StatisticsFactsProps {
  productId: string;
  statistics: { runs: number; failures: unknown; p50Ms: number | null; p99Ms: number | null };
}

/** How the decoder has done since the server started: its runs, its failures by kind, and the time that they took. */
export function StatisticsFacts({ productId, statistics }: StatisticsFactsProps) {
  const { runs, failures, p50Ms, p99Ms } = statistics;
  const kinds = Object.entries(failures as Record<string, number>).filter(([, count]) => count > 0);
  const failed = kinds.reduce((sum, [, count]) => sum + count, 0);
  return (
    <dl class="facts" aria-label="The decoder since the server started">
      <div>
        <dt>Runs</dt>
        <dd>{countText(runs)}</dd>
      </div>
      <div>
        <dt>Failed</dt>
        <dd>
          {failed === 0 ? (
            runs === 0 ? (
              '–'
            ) : (
              'none'
            )
          ) : (
            <a href={href(`/products/${productId}/calls`, { status: 'DECODER_FAILED' })}>
              {countText(failed)} ({kinds.map(([kind, count]) => `${kind} ${countText(count)}`).join(', ')})
            </a>
          )}
        </dd>
      </div>
      <div>
        <dt>Half of them took at most</dt>
        <dd>{timeText(p50Ms)}</dd>
      </div>
      <div>
        <dt>99 of 100 at most</dt>
        <dd>{timeText(p99Ms)}</dd>
      </div>
    </dl>
  );
}

function timeText(ms: number | null): string {
  return ms === null
    ? '–'
    : t('{ms} ms', { ms: ms.toLocaleString(LOCALE, { maximumFractionDigits: ms < 10 ? 1 : 0 }) });
}
