import { BoundedStream } from '../../scheduling/bounded-stream.ts';
import type { UnreadOfTenant } from '../../scheduling/backlog-memory.ts';
import type { StatusEvent } from './status-rows.ts';

/** An event takes about so much; of one subscriber 10,000 may lie unread. */
const EVENT_BYTES = 200;
const MAX_UNREAD = 10_000 * EVENT_BYTES;

/** What one subscriber reads of the status of devices; `besides`: what others of its tenant have not read. */
export function statusStream(besides: UnreadOfTenant, onEnd: () => void): BoundedStream<StatusEvent> {
  return new BoundedStream<StatusEvent>({
    sizeOf: () => EVENT_BYTES,
    read: (event) => event,
    maxUnread: MAX_UNREAD,
    tooSlow: 'This subscriber reads too slowly; subscribe again and read `devices(online:)`.',
    besides,
    onEnd,
  });
}
