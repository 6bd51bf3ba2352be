import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { PlaceOfDevice } from '../../rules/rules.graphql.ts';
import { useMistake } from '../../parts/mistake.tsx';
import { Pick, Typed } from '../../parts/pick.tsx';
import type { ConditionDraft } from './rule-draft.ts';
import { t } from '../../texts/texts.ts';

interface PlacePartsProps {
  /** The part of the input that the condition is. */
  part: string;
  condition: ConditionDraft;
  /** The device whose place may be taken. */
  deviceId: string | null;
  set: (more: Partial<ConditionDraft>) => void;
}

/** A circle or a polygon, and on which side of it. */
export function PlaceParts({ part, condition, deviceId, set }: PlacePartsProps) {
  const { operator, area, polygon, center, meters, field } = condition;
  const corners = useMistake(`${part}.polygon`);
  const finding = useAction(async (id: string) => {
    const { device } = await request(PlaceOfDevice, { id, field });
    const value = device.latest[0]?.value;
    if (typeof value !== 'string') throw new Error(t('The device has no place yet.'));
    set({ center: value, meters: meters === '' ? '500' : meters });
  });
  return (
    <>
      <Pick
        label="Is"
        part={`${part}.operator`}
        value={operator}
        choices={[
          ['OUTSIDE', 'outside'],
          ['INSIDE', 'inside'],
        ]}
        onChange={(next) => set({ operator: next })}
      />
      <Pick
        label="Area"
        part={`${part}.area`}
        value={area}
        choices={[
          ['circle', t('a circle')],
          ['polygon', t('a polygon')],
        ]}
        onChange={(next) => set({ area: next })}
      />
      {area === 'circle' ? (
        <>
          <Typed
            label="Middle"
            part={`${part}.circle.center`}
            placeholder="(52.52,13.405)"
            value={center}
            onChange={(next) => set({ center: next })}
          />
          <Typed
            label="Radius"
            unit="m"
            isNumber
            part={`${part}.circle.meters`}
            value={meters}
            onChange={(next) => set({ meters: next })}
          />
          {deviceId !== null && (
            <button type="button" disabled={finding.busy} onClick={() => void finding.run(deviceId)}>
              <Icon name="pin" /> Where the device is now
            </button>
          )}
          {finding.error !== null && <Note kind="error">{finding.error}</Note>}
        </>
      ) : (
        <label class="wide">
          Corners, one in each line
          <textarea
            rows={4}
            class="mono"
            placeholder={'(52.52,13.40)\n(52.52,13.41)\n(52.51,13.41)'}
            value={polygon}
            onInput={(event) => set({ polygon: event.currentTarget.value })}
            {...corners.marks}
          />
          {corners.told}
        </label>
      )}
    </>
  );
}
