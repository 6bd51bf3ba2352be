/** Movement of fingers or a mouse since the last event: an offset, and a scaling around a point. */
export interface Gesture {
  /** Offset in pixels. */
  dx: number;
  dy: number;
  /** Scaling; 2: the fingers are twice as far apart. */
  factor: number;
  /** The middle of the fingers, in pixels from the element's upper left corner. */
  at: { x: number; y: number };
}

interface GestureHandlers {
  /** True for a pointer to follow. */
  accepts: (event: PointerEvent) => boolean;
  moved: (gesture: Gesture) => void;
  /** Called when all pointers have gone; `cancelled`: the browser took over, as for scrolling. */
  ended?: (cancelled: boolean) => void;
}

interface Spread {
  x: number;
  y: number;
  /** Distance between the fingers; 0 for a single one. */
  wide: number;
}

/**
 * Follows the fingers on an element until the returned function is called. Its `touch-action` decides which gestures
 * the browser keeps.
 */
export function followGestures(element: HTMLElement, handlers: GestureHandlers): () => void {
  const down = new Map<number, { x: number; y: number }>();
  const place = (event: PointerEvent): void => {
    const { left, top } = element.getBoundingClientRect();
    down.set(event.pointerId, { x: event.clientX - left, y: event.clientY - top });
  };
  const pressed = (event: PointerEvent): void => {
    if (!handlers.accepts(event)) return;
    place(event);
    element.setPointerCapture(event.pointerId);
  };
  const moved = (event: PointerEvent): void => {
    if (!down.has(event.pointerId)) return;
    const before = spreadOf(down);
    place(event);
    const now = spreadOf(down);
    handlers.moved({
      dx: now.x - before.x,
      dy: now.y - before.y,
      factor: before.wide === 0 ? 1 : now.wide / before.wide,
      at: { x: now.x, y: now.y },
    });
  };
  const released = (event: PointerEvent): void => {
    if (down.delete(event.pointerId) && down.size === 0) handlers.ended?.(event.type === 'pointercancel');
  };
  const listeners = { pointerdown: pressed, pointermove: moved, pointerup: released, pointercancel: released };
  for (const [name, listener] of Object.entries(listeners))
    element.addEventListener(name as keyof typeof listeners, listener);
  return () => {
    for (const [name, listener] of Object.entries(listeners))
      element.removeEventListener(name as keyof typeof listeners, listener);
  };
}

function spreadOf(down: ReadonlyMap<number, { x: number; y: number }>): Spread {
  const [first, second = first] = [...down.values()];
  if (first === undefined || second === undefined) return { x: 0, y: 0, wide: 0 };
  return {
    x: (first.x + second.x) / 2,
    y: (first.y + second.y) / 2,
    wide: Math.hypot(second.x - first.x, second.y - first.y),
  };
}
