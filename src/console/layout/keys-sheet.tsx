import { Dialog } from '../parts/dialog.tsx';
import { t } from '../texts/texts.ts';

const KEYS: readonly [where: string, keys: readonly (readonly [keys: string, does: string])[]][] = [
  [
    t('Everywhere'),
    [
      [t('/ or Ctrl K'), t('Search devices, serial numbers, products and fields')],
      ['w', t('Switch to another workspace')],
      ['?', t('This list')],
      [t('Esc'), t('Close what is open')],
    ],
  ],
  [
    t('Charts'),
    [
      ['← →', t('To the value before or after')],
      [t('Home End'), t('To the first or last value in sight')],
      [t('Esc'), t('Take the cursor away')],
    ],
  ],
  [
    t('Maps'),
    [
      ['← → ↑ ↓', t('Move the map')],
      ['+ −', t('Zoom in or out')],
      ['0', t('Show all of it')],
      [t('Page ↑ Page ↓'), t('Along the way of a device')],
    ],
  ],
  [
    t('Dashboards'),
    [
      ['← → ↑ ↓', t('Move a widget that is being arranged')],
      [t('Shift ← → ↑ ↓'), t('Change its size')],
    ],
  ],
];

/** The list of the keys. */
export function KeysSheet({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      {KEYS.map(([where, keys]) => (
        <section key={where}>
          <h3>{where}</h3>
          <dl class="keys">
            {keys.map(([key, does]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
