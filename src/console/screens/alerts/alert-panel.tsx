import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import {
  AcknowledgeAlert,
  AlertFields,
  type AlertParts,
  AlertTraces,
  SnoozeAlert,
} from '../../alerts/alerts.graphql.ts';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { useQuery } from '../../api/use-query.ts';
import { href } from '../../navigation/place.ts';
import { givenIn, onSubmit } from '../../parts/form-texts.ts';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { dateTimeText } from '../../parts/time-text.ts';
import { toast } from '../../parts/toasts.tsx';
import { judgedText } from '../../rules/judged-text.ts';
import { SEVERITIES, SeverityChip } from '../../rules/severity.tsx';
import { may } from '../../session/session.ts';
import { STATES } from './alert-filter.ts';
import { StateChip } from './state-chip.tsx';
import { t } from '../../texts/texts.ts';

interface AlertPanelProps {
  alert: AlertParts;
  onChanged: (alert: AlertParts) => void;
  onClose: () => void;
}

/** Reasons of the trace, in words; others as they are. */
const REASONS: Record<string, string> = {
  VALUE: t('by a value'),
  DURATION: t('for long enough'),
  SILENT: t('nothing came'),
  HEARD: t('heard again'),
  SAVED: t('the rule was changed'),
  ACKNOWLEDGED: 'acknowledged',
  SNOOZED: 'snoozed',
};

const SNOOZES = [
  [1, t('1 hour')],
  [4, t('4 hours')],
  [24, t('1 day')],
  [168, t('1 week')],
] as const;
const HOUR_MS = 3_600_000;

/** One alert: when, of what, by which values, and what is done about it. */
export function AlertPanel({ alert, onChanged, onClose }: AlertPanelProps) {
  const { id, severity, rule, device, startedAt, firedAt, endedAt, state } = alert;
  const { data, error, refetch } = useQuery(AlertTraces, {
    deviceId: device.id,
    from: startedAt,
    to: new Date(Date.parse(startedAt) + 1).toISOString(),
  });
  const fields = useQuery(AlertFields, { productId: rule.product.id });
  const panel = useRef<HTMLElement>(null);
  // Focus the panel: many rows lie between it and the chosen one; and again when the form that had the focus goes.
  useEffect(() => panel.current?.focus({ preventScroll: true }), [alert.acknowledgedAt]);
  const seen = useRef(alert);
  useEffect(() => {
    if (seen.current !== alert) void refetch();
    seen.current = alert;
  }, [alert]);
  const trace = data?.alerts.edges.find(({ node }) => node.id === id)?.node.trace ?? null;
  return (
    <aside
      ref={panel}
      class="card alert-panel"
      tabIndex={-1}
      aria-label="The alert chosen"
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
    >
      <div class="card-head">
        <SeverityChip severity={severity} />
        <strong class="grow">{rule.name}</strong>
        <button type="button" class="quiet" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <div class="stack alert-parts">
        <StateChip alert={alert} />
        <dl class="facts">
          <Fact name="Device">
            <a href={href(`/devices/${device.id}`)}>{device.name}</a>
          </Fact>
          <Fact name="Rule">
            <a href={href(`/products/${rule.product.id}/rules/${rule.id}`)}>{rule.name}</a>
          </Fact>
          <Time name="Began" at={startedAt} />
          {firedAt !== null && <Time name="Fired" at={firedAt} />}
          {endedAt !== null && <Time name="Ended" at={endedAt} />}
          {alert.acknowledgedAt !== null && (
            <Fact name="Acknowledged">
              {dateTimeText(new Date(alert.acknowledgedAt))} by {alert.acknowledgedBy}
            </Fact>
          )}
          {alert.snoozedUntil !== null && <Time name="Snoozed until" at={alert.snoozedUntil} />}
        </dl>
        {state !== 'RESOLVED' && may('CONFIGURE') && <Deeds alert={alert} onChanged={onChanged} />}
        <h3>What happened</h3>
        {error !== null && <Note kind="error">{error.message}</Note>}
        <ol class="alert-trace">
          {trace?.map((step, at) => (
            <li key={at}>
              <time dateTime={step.at}>{dateTimeText(new Date(step.at))}</time>
              <span>
                <strong>{STATES[step.state]}</strong>, {SEVERITIES[step.severity].toLowerCase()},{' '}
                {REASONS[step.reason] ?? step.reason}
              </span>
              <small>{judgedText(step.values, fields.data?.product.fields ?? [])}</small>
              {step.note !== null && <q>{step.note}</q>}
            </li>
          ))}
        </ol>
      </div>
    </aside>
  );
}

function Deeds({ alert, onChanged }: Pick<AlertPanelProps, 'alert' | 'onChanged'>) {
  const { id, rule, acknowledgedAt } = alert;
  const [hours, setHours] = useState<number>(SNOOZES[0][0]);
  const acknowledging = useAction(async (form: HTMLFormElement) => {
    onChanged((await request(AcknowledgeAlert, { id, note: givenIn(form)('note') })).acknowledgeAlert);
    toast(t('“{name}” is acknowledged.', { name: rule.name }));
  });
  const snoozing = useAction(async () => {
    const until = new Date(Date.now() + hours * HOUR_MS).toISOString();
    onChanged((await request(SnoozeAlert, { id, until })).snoozeAlert);
    toast(t('Nothing is told of it until {dateTimeText}.', { dateTimeText: dateTimeText(new Date(until)) }));
  });
  return (
    <>
      {acknowledgedAt === null && (
        <form class="stack" aria-label="Acknowledge" onSubmit={onSubmit(acknowledging.run)}>
          <label>
            Note
            <textarea name="note" rows={2} maxLength={2000} placeholder="what is done about it" />
          </label>
          {acknowledging.error !== null && <Note kind="error">{acknowledging.error}</Note>}
          <div>
            <button type="submit" class="primary" disabled={acknowledging.busy}>
              Acknowledge
            </button>
          </div>
        </form>
      )}
      {rule.latched && acknowledgedAt === null && (
        <p class="hint">It is over only once it has passed and is acknowledged.</p>
      )}
      <form class="row" aria-label="Snooze" onSubmit={onSubmit(() => snoozing.run())}>
        <label class="check">
          Tell nothing for
          <select value={hours} onChange={(event) => setHours(Number(event.currentTarget.value))}>
            {SNOOZES.map(([one, text]) => (
              <option key={one} value={one}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" disabled={snoozing.busy}>
          Snooze
        </button>
      </form>
      {snoozing.error !== null && <Note kind="error">{snoozing.error}</Note>}
    </>
  );
}

function Time({ name, at }: { name: string; at: string }) {
  return <Fact name={name}>{dateTimeText(new Date(at))}</Fact>;
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
