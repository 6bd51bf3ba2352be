import { Dialog } from '../parts/dialog.tsx';

const KEYS: readonly [where: string, keys: readonly (readonly [keys: string, does: string])[]][] = [
  [
    'Everywhere',
    [
      ['/ or Ctrl K', 'Search devices, serial numbers, products and fields'],
      ['w', 'Switch to another workspace'],
      ['?', 'This list'],
      ['Esc', 'Close what is open'],
    ],
  ],
  [
    'Charts',
    [
      ['← →', 'To the value before or after'],
      ['Home End', 'To the first or last value in sight'],
      ['Esc', 'Take the cursor away'],
    ],
  ],
  [
    'Maps',
    [
      ['← → ↑ ↓', 'Move the map'],
      ['+ −', 'Zoom in or out'],
      ['0', 'Show all of it'],
      ['Page ↑ Page ↓', 'Along the way of a device'],
    ],
  ],
  [
    'Dashboards',
    [
      ['← → ↑ ↓', 'Move a widget that is being arranged'],
      ['Shift ← → ↑ ↓', 'Change its size'],
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
