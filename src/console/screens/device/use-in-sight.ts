import { useEffect, useState } from 'preact/hooks';

/** Whether an element is in or near the window now, and whether it ever was. */
interface Sight {
  isNow: boolean;
  hasBeen: boolean;
}

/** Follows whether the element is near the window: distant ones need neither fetching nor drawing. */
export function useInSight(element: { current: Element | null }): Sight {
  const [sight, setSight] = useState<Sight>({ isNow: false, hasBeen: false });
  useEffect(() => {
    if (element.current === null) return;
    const observer = new IntersectionObserver(
      (entries) => {
        const isNow = entries.at(-1)?.isIntersecting === true;
        setSight(({ hasBeen }) => ({ isNow, hasBeen: hasBeen || isNow }));
      },
      { rootMargin: '200px' },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return sight;
}
