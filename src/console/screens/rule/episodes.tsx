import type { DataOf } from '../../api/operation.ts';
import { dateTimeText } from '../../parts/time-text.ts';
import { judgedText } from '../../rules/judged-text.ts';
import type { RuleField, TestRule } from '../../rules/rules.graphql.ts';
import { SeverityChip } from '../../rules/severity.tsx';
import { durationText } from '../../time/duration.ts';
import { countText } from '../../texts/count-text.ts';

/** An alert that the rule would have made. */
export type Episode = DataOf<typeof TestRule>['testRule'][number];

const MAX_SHOWN = 100;

/** The begin and end of an episode in milliseconds; one that is still on ends at `now`. */
function spanOf({ startedAt, endedAt }: Episode, now: number): { from: number; to: number } {
  return { from: Date.parse(startedAt), to: endedAt === null ? now : Date.parse(endedAt) };
}

interface EpisodeStripProps {
  episodes: readonly Episode[];
  /** The range of the chart above, in milliseconds. */
  from: number;
  to: number;
}

/** Episodes as bars below a chart of the same range. */
export function EpisodeStrip({ episodes, from, to }: EpisodeStripProps) {
  const place = (ms: number): number => (100 * (Math.min(Math.max(ms, from), to) - from)) / (to - from);
  return (
    <div class="episode-strip" aria-hidden="true">
      {episodes
        .map((episode) => ({ ...spanOf(episode, to), severity: episode.severity }))
        .filter((span) => span.to >= from && span.from < to)
        .map((span) => (
          <i
            key={span.from}
            data-severity={span.severity}
            style={{ left: `${place(span.from)}%`, width: `${place(span.to) - place(span.from)}%` }}
          />
        ))}
    </div>
  );
}

interface EpisodeTableProps {
  episodes: readonly Episode[];
  fields: readonly RuleField[];
  /** The end of what was tried, in milliseconds. */
  now: number;
  /** True: of more than one device. */
  isWide: boolean;
  /** Called with an episode that somebody wants to see, in milliseconds. */
  onShow: (deviceId: string, from: number, to: number) => void;
}

/** Episodes, newest first, each leading to its place in the chart. */
export function EpisodeTable({ episodes, fields, now, isWide, onShow }: EpisodeTableProps) {
  const shown = episodes.toSorted((one, other) => Date.parse(other.startedAt) - Date.parse(one.startedAt));
  return (
    <div class="scroll-x" role="region" aria-label="When it would have fired" tabIndex={0}>
      <table class="episodes">
        <thead>
          <tr>
            <th>Began</th>
            <th>Level</th>
            {isWide && <th>Device</th>}
            <th>Lasted</th>
            <th>Fired by</th>
          </tr>
        </thead>
        <tbody>
          {shown.slice(0, MAX_SHOWN).map((episode) => {
            const { device, severity, startedAt, endedAt, values } = episode;
            const { from, to } = spanOf(episode, now);
            return (
              <tr key={`${device.id} ${startedAt}`}>
                <td>
                  <button type="button" class="link" onClick={() => onShow(device.id, from, to)}>
                    {dateTimeText(new Date(startedAt))}
                  </button>
                </td>
                <td>
                  <SeverityChip severity={severity} />
                </td>
                {isWide && <td>{device.name}</td>}
                <td>
                  {endedAt === null
                    ? `${durationText((now - from) / 1_000)}, still on`
                    : durationText((to - from) / 1_000)}
                </td>
                <td>{judgedText(values, fields)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {shown.length > MAX_SHOWN && (
        <p class="hint nothing">
          The newest {MAX_SHOWN} of {countText(shown.length)}.
        </p>
      )}
    </div>
  );
}
