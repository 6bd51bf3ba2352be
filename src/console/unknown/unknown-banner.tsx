import { useStore } from '../api/store.ts';
import { useLookedAt } from '../api/use-looked-at.ts';
import { href } from '../navigation/place.ts';
import { may, workspaceId } from '../session/session.ts';
import { networkWord } from './network-words.ts';
import { UnknownWaiting } from './unknown.graphql.ts';
import './unknown.css';
import { counted } from '../texts/texts.ts';

const LOOK_MS = 5_000;
/** Devices that are counted; the query asks for one more. */
const MOST_COUNTED = 20;
const NAMED = 3;

/** Says that devices have sent which are not known yet, with the way to adopt them; nothing where there are none. */
export function UnknownBanner() {
  const workspace = useStore(workspaceId);
  const { data } = useLookedAt(UnknownWaiting, may('READ') ? { workspaceId: workspace } : null, LOOK_MS);
  const waiting = data?.unknownDevices ?? [];
  if (waiting.length === 0) return null;
  const named = waiting.slice(0, NAMED);
  const others = waiting.length - named.length;
  return (
    <div class="note unknown-banner" role="status">
      <span class="grow">
        <strong>
          {waiting.length > MOST_COUNTED
            ? counted(MOST_COUNTED, 'More than {count} unknown device sent:', 'More than {count} unknown devices sent:')
            : counted(waiting.length, '{count} unknown device sent:', '{count} unknown devices sent:')}
        </strong>{' '}
        {named.map(({ identifier, network }, at) => (
          <span key={`${network} ${identifier}`}>
            {at > 0 && ', '}
            <span class="mono">{identifier}</span> ({networkWord(network)})
          </span>
        ))}
        {others > 0 && counted(others, ' and another one', ' and others')}
      </span>
      <a class="button" href={href('/unknown')}>
        {may('CONFIGURE') ? 'Adopt' : 'Look at them'}
      </a>
    </div>
  );
}
