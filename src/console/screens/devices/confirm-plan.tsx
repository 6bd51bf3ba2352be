import { useEffect, useState } from 'preact/hooks';
import { forEachOf } from '../../api/for-each-of.ts';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Note } from '../../parts/note.tsx';
import { PlanLoss } from './devices.graphql.ts';
import { counted, countedParts, t } from '../../texts/texts.ts';
import { countText } from '../../texts/count-text.ts';

/** A plan that keeps history for a limited time. */
export interface ShortPlan {
  slug: string;
  name: string;
  retentionDays: number;
}

interface ConfirmPlanProps {
  devices: readonly { id: string; name: string }[];
  plan: ShortPlan;
  onClose: () => void;
  onConfirm: () => void;
}

/** Shows how many values of the devices another plan would delete, and asks for confirmation. */
export function ConfirmPlan({ devices, plan, onClose, onConfirm }: ConfirmPlanProps) {
  const [{ values, looked }, setCount] = useState({ values: 0, looked: 0 });
  const counting = useAction((signal: AbortSignal) => {
    const count = async ({ id }: { id: string }): Promise<void> => {
      const { planChange } = await request(PlanLoss, { id, plan: plan.slug }, signal);
      setCount((sum) => ({ values: sum.values + planChange.measurements, looked: sum.looked + 1 }));
    };
    return forEachOf(devices, count, signal);
  });
  useEffect(() => {
    const stop = new AbortController();
    void counting.run(stop.signal);
    return () => stop.abort();
  }, []);
  const isCounted = looked === devices.length;
  const what = devices.length === 1 ? devices[0]!.name : counted(devices.length, '{count} device', '{count} devices');
  return (
    <Dialog title={`Plan ${plan.name} for ${what}?`} onClose={onClose}>
      <p aria-live="polite">
        {isCounted ? (
          <>
            {counted(plan.retentionDays, 'It keeps history for {count} day.', 'It keeps history for {count} days.')}{' '}
            {countedParts(
              values,
              '{count} older value goes for good, seven days after the change.',
              '{count} older values go for good, seven days after the change.',
              { count: <strong>{countText(values)}</strong> },
            )}{' '}
            Until then a plan that keeps more brings everything back.
          </>
        ) : (
          t('Counting the values that would go: {counted} of {length}…', {
            counted: looked,
            length: devices.length,
          })
        )}
      </p>
      {counting.error !== null && <Note kind="error">{counting.error}</Note>}
      <div class="actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class={values > 0 ? 'danger primary' : 'primary'}
          disabled={!isCounted}
          onClick={onConfirm}
        >
          Change the plan
        </button>
      </div>
    </Dialog>
  );
}
