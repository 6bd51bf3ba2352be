import { href } from '../../navigation/place.ts';
import { countText, numberText } from '../../parts/value-text.ts';
import type { ShownProduct } from './shown-product.ts';
import { t } from '../../texts/texts.ts';

const SENDS = {
  API: t('to the record endpoint or the webhook'),
  LORAWAN: t('through LoRaWAN'),
  PARTICLE: t('through Particle'),
};
const SET = { DEVICE: '', PRODUCT: '', WORKSPACE: t(', the workspace’s'), SERVER: t(', the server’s') };
const USUAL_SILENCE = 2_400;
const UNITS: [seconds: number, name: string][] = [
  [86_400, t('days')],
  [3_600, t('hours')],
  [60, t('minutes')],
];

/** The duration in the largest unit in which it is a whole number above one. */
function durationText(seconds: number): string {
  const [unit, name] = UNITS.find(([each]) => seconds % each === 0 && seconds > each) ?? [1, t('seconds')];
  return `${countText(seconds / unit)} ${name}`;
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
