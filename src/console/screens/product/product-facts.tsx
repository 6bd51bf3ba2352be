import { href } from '../../navigation/place.ts';
import { numberText } from '../../parts/value-text.ts';
import { countText } from '../../texts/count-text.ts';
import type { ShownProduct } from './shown-product.ts';
import { counted, t } from '../../texts/texts.ts';

const SENDS = {
  API: t('to the record endpoint or the webhook'),
  LORAWAN: t('through LoRaWAN'),
  PARTICLE: t('through Particle'),
};
const SET = { DEVICE: '', PRODUCT: '', WORKSPACE: t(', the workspace’s'), SERVER: t(', the server’s') };
const USUAL_SILENCE = 2_400;
const UNITS: [seconds: number, text: (count: number) => string][] = [
  [86_400, (count) => counted(count, '{count} day', '{count} days')],
  [3_600, (count) => counted(count, '{count} hour', '{count} hours')],
  [60, (count) => counted(count, '{count} minute', '{count} minutes')],
];

/** The duration in the largest unit in which it is a whole number above one. */
function durationText(seconds: number): string {
  const found = UNITS.find(([each]) => seconds % each === 0 && seconds > each);
  if (found === undefined) return counted(seconds, '{count} second', '{count} seconds');
  const [unit, text] = found;
  return text(seconds / unit);
}

/** The way a product's devices send, their number, and their common settings. */
export function ProductFacts({
  id,
  authorKey,
  deviceType,
  devices,
  offlineAfterSeconds,
  timeZone,
  writeRate,
}: ShownProduct) {
  const { perSecond, source } = writeRate;
  return (
    <dl class="facts">
      <div>
        <dt>Devices</dt>
        <dd>
          <a href={href('/devices', { product: id })}>{countText(devices.totalCount)}</a>
        </dd>
      </div>
      <div>
        <dt>They send</dt>
        <dd>{SENDS[deviceType]}</dd>
      </div>
      {authorKey !== null && (
        <div>
          <dt>Key</dt>
          <dd class="mono">{authorKey}</dd>
        </div>
      )}
      <div>
        <dt>Write limit</dt>
        <dd>
          {perSecond === null ? 'none' : `${numberText(perSecond)} a second for each field`}
          {SET[source]}
        </dd>
      </div>
      <div>
        <dt>Silent after</dt>
        <dd>{durationText(offlineAfterSeconds ?? USUAL_SILENCE)}</dd>
      </div>
      {timeZone !== null && (
        <div>
          <dt>Times without a zone</dt>
          <dd>{timeZone}</dd>
        </div>
      )}
    </dl>
  );
}
