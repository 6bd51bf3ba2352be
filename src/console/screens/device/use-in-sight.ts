import { useEffect, useState } from 'preact/hooks';

/** Whether the element has ever come near the window: what stands far below is fetched when somebody scrolls there. */
export function useInSight(element: { current: Element | null }): boolean {
  const [isInSight, setInSight] = useState(false);
  useEffect(() => {
    if (element.current === null || isInSight) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) setInSight(true);
      },
      { rootMargin: '400px' },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element, isInSight]);
  return isInSight;
}
