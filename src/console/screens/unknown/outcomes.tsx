import { href } from '../../navigation/place.ts';
import { Icon } from '../../parts/icon.tsx';
import { type MeasuredValue, valueText } from '../../parts/value-text.ts';
import { countText } from '../../texts/count-text.ts';
import type { Outcome } from './adopt.ts';
import type { AdoptedDevice } from './unknown-list.graphql.ts';

const VALUES_SHOWN = 3;

/** What became of the devices that were adopted on this page, the last one first. */
export function Outcomes({ outcomes, onClose }: { outcomes: readonly Outcome[]; onClose: () => void }) {
  const adopted = outcomes.filter(({ device }) => device !== null).length;
  const failed = outcomes.length - adopted;
  return (
    <section class="card" aria-label="What became of them">
      <header class="card-head">
        <h2 class="grow">
          <span role="status">
            {countText(adopted)} adopted{failed > 0 && `, ${countText(failed)} not`}
          </span>
        </h2>
        <button type="button" class="quiet" aria-label="Close the list" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <ul class="outcomes">
        {outcomes.map(({ identifier, device, error }) => (
          <li key={identifier} data-failed={device === null}>
            {device === null ? (
              <>
                <span class="mono">{identifier}</span>
                <span>{error ?? 'It was adopted by someone else meanwhile.'}</span>
              </>
            ) : (
              <>
                <a href={href(`/devices/${device.id}`)}>{device.name}</a>
                <Replayed device={device} />
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The values that came of the calls that were kept, or where to see why none did. */
function Replayed({ device: { latest, product, serialNumber } }: { device: AdoptedDevice }) {
  const calls = href(`/products/${product.id}/calls`, { device: serialNumber });
  if (latest.length === 0)
    return (
      <span>
        No value came of what was kept. <a href={calls}>See its calls</a>
      </span>
    );
  const texts = latest
    .slice(0, VALUES_SHOWN)
    .map(({ field, value }) => `${field.name ?? field.identifier} ${valueText(value as MeasuredValue, field.unit)}`);
  return (
    <span>
      {texts.join(', ')}
      {latest.length > VALUES_SHOWN && `, ${latest.length - VALUES_SHOWN} more`}
      <small> · {product.name}</small>
    </span>
  );
}
