import { useMemo, useState } from 'preact/hooks';
import type { RuleInput } from '../../api/schema-types.ts';
import type { ApiError } from '../../api/api-error.ts';
import { TimeChart } from '../../chart/time-chart.tsx';
import { Note } from '../../parts/note.tsx';
import { useLater } from '../../parts/use-later.ts';
import { numberText } from '../../parts/value-text.ts';
import type { RuleField } from '../../rules/rules.graphql.ts';
import { DevicePick } from './device-pick.tsx';
import { type Episode, EpisodeStrip, EpisodeTable } from './episodes.tsx';
import type { Ground } from './ground.ts';
import { mistakeOf } from '../../parts/mistake.tsx';
import type { RuleDraft } from './rule-draft.ts';
import { useTriedValues } from './use-tried-values.ts';
import { counted, t } from '../../texts/texts.ts';

const LATER_MS = 400;
/** Part of an episode that is shown before and after it. */
const AROUND = 0.5;
const LEAST_AROUND_MS = 600_000;

/** What a trial has answered. */
interface Trial {
  episodes: readonly Episode[] | null;
  error: ApiError | null;
  /** True while the answer to what is typed has not come. */
  isBusy: boolean;
}

interface RulePreviewProps {
  productId: string;
  ground: Ground;
  draft: RuleDraft;
  /** null: not whole yet. */
  input: RuleInput | null;
  /** The field that somebody works on; null: none that can be drawn. */
  field: RuleField | null;
  deviceId: string | null;
  /** The last 30 days, in milliseconds. */
  range: { from: number; to: number };
  trial: Trial;
  isWide: boolean;
  onWide: (isWide: boolean) => void;
  onDevice: (id: string) => void;
}

/** The chart of a device with what the rule compares it with, and when the rule would have fired. */
export function RulePreview(props: RulePreviewProps) {
  const { productId, ground, draft, input, field, deviceId, range, trial, isWide } = props;
  const [zoomed, setZoomed] = useState<{ from: number; to: number } | null>(null);
  const shown = zoomed ?? range;
  const asked = useLater(shown, LATER_MS);
  const { chart, references, error } = useTriedValues(deviceId, field, draft, asked);
  const episodes = trial.episodes ?? [];
  const own = useMemo(() => episodes.filter(({ device }) => device.id === deviceId), [episodes, deviceId]);
  const name = field === null ? '' : (field.name ?? field.identifier);
  return (
    <section class="card rule-preview" aria-labelledby="preview-title">
      <div class="card-head">
        <h2 id="preview-title" class="grow">
          The last 30 days
        </h2>
        <DevicePick productId={productId} deviceId={deviceId} onDevice={props.onDevice} />
      </div>
      {error !== null && <Note kind="error">{error}</Note>}
      <div class="tried-chart">
        {field !== null && deviceId !== null ? (
          <TimeChart
            label={`${name} with what it is compared with`}
            data={chart?.data ?? NOTHING}
            from={shown.from}
            to={shown.to}
            shape={field.type === 'FLOAT' || field.type === 'INTEGER' ? 'line' : 'step'}
            names={chart?.names}
            text={numberText}
            references={references}
            syncKey="rule"
            onZoom={(from, to) => setZoomed({ from, to })}
            onBack={() => setZoomed(null)}
          />
        ) : (
          <p class="hint nothing">
            {deviceId === null
              ? 'This product has no device yet.'
              : 'Silence and places are not drawn; what they would have made is below.'}
          </p>
        )}
        <EpisodeStrip episodes={own} {...shown} />
      </div>
      <div class="row tried-head">
        <p class="grow" role="status">
          {input === null ? 'Fill in what is watched to see when it would have fired.' : sentence(trial, isWide)}
        </p>
        {zoomed !== null && (
          <button type="button" onClick={() => setZoomed(null)}>
            All 30 days
          </button>
        )}
        <label class="check">
          <input type="checkbox" checked={isWide} onChange={() => props.onWide(!isWide)} />
          On every device
        </label>
      </div>
      {input !== null && episodes.length > 0 && (
        <EpisodeTable
          episodes={episodes}
          fields={ground.fields}
          now={range.to}
          isWide={isWide}
          onShow={(device, from, to) => {
            const around = Math.max((to - from) * AROUND, LEAST_AROUND_MS);
            props.onDevice(device);
            setZoomed({ from: from - around, to: Math.min(to + around, range.to) });
          }}
        />
      )}
    </section>
  );
}

const NOTHING = { timestamps: [], values: [] };

function sentence({ episodes, error, isBusy }: Trial, isWide: boolean): string {
  if (error !== null && !isBusy) return mistakeOf(error.message) === null ? error.message : t('See what is marked.');
  if (episodes === null) return t('Looking…');
  const devices = new Set(episodes.map(({ device }) => device.id)).size;
  const times = counted(episodes.length, 'once', '{count} times');
  const where = isWide ? counted(devices, ' on {count} device', ' on {count} devices') : '';
  const said =
    episodes.length === 0 ? t('It would not have fired') : t('It would have fired {times}{where}', { times, where });
  return `${said}${isBusy ? t(', as it was') : ''}.`;
}
