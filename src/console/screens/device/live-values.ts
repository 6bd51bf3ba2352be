import { useEffect, useRef } from 'preact/hooks';
import { useLive } from '../../api/use-live.ts';
import type { LivePoint } from '../../chart/merge-values.ts';
import { DeviceState, DeviceValues } from './device.graphql.ts';

/** A pushed value. */
export type Pushed = LivePoint<number | string | boolean>;
type Listener = (points: readonly Pushed[]) => void;

/** Minimum time between drawings, however many values arrive. */
const DRAW_MS = 250;
/** Maximum values queued per field; a page in the background draws rarely. */
const MAX_WAITING = 2_000;

/** The pushed values of one device, passed on by field in small groups. */
export class LiveValues {
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #waiting = new Map<string, Pushed[]>();
  #timer: ReturnType<typeof setTimeout> | null = null;

  /** Calls with the new values of a field, until the returned function is called. */
  listen(field: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(field) ?? new Set();
    this.#listeners.set(field, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  add(field: string, point: Pushed): void {
    const waiting = this.#waiting.get(field);
    if (waiting === undefined) this.#waiting.set(field, [point]);
    else if (waiting.push(point) > MAX_WAITING) waiting.shift();
    this.#timer ??= setTimeout(() => this.#flush(), DRAW_MS);
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#waiting.clear();
    this.#listeners.clear();
  }

  /** Draws one field per frame: many charts at once would delay scrolling. Values that arrive meanwhile are queued. */
  #flush(): void {
    const heaps = [...this.#waiting].values();
    this.#waiting.clear();
    const next = (): void => {
      const { value: heap } = heaps.next();
      if (heap === undefined) {
        this.#timer = this.#waiting.size === 0 ? null : setTimeout(() => this.#flush(), DRAW_MS);
        return;
      }
      const [field, points] = heap;
      for (const listener of this.#listeners.get(field) ?? []) listener(points);
      requestAnimationFrame(next);
    };
    next();
  }
}

interface Handlers {
  onHeard: (receivedAt: string) => void;
  onState: (online: boolean) => void;
  /** Called when events may have been missed. */
  missed: () => void;
}

/** Follows a device and passes its values to the listeners of the LiveValues. */
export function useLiveValues(deviceId: string, { onHeard, onState, missed }: Handlers): LiveValues {
  const values = useRef<LiveValues | null>(null);
  values.current ??= new LiveValues();
  useEffect(() => () => values.current?.stop(), []);
  const heard = useRef({ at: '', timer: null as ReturnType<typeof setTimeout> | null });
  useLive(
    DeviceValues,
    { deviceIds: [deviceId] },
    {
      cursorOf: ({ measurementsRecorded }) => measurementsRecorded.cursor,
      missed,
      next: ({ measurementsRecorded: { measurements, receivedAt } }) => {
        for (const { field, timestamp, value } of measurements)
          values.current?.add(field.identifier, { timestamp: Date.parse(timestamp) / 1_000, value });
        heard.current.at = receivedAt;
        heard.current.timer ??= setTimeout(() => {
          heard.current.timer = null;
          onHeard(heard.current.at);
        }, DRAW_MS);
      },
    },
  );
  useLive(
    DeviceState,
    { deviceIds: [deviceId] },
    {
      next: ({ deviceStatusChanged }) => onState(deviceStatusChanged.online),
    },
  );
  return values.current;
}
