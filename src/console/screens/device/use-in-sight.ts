import { useEffect, useState } from 'preact/hooks';

/** Follows whether the element is in or near the window: distant ones need no drawing. */
export function useInSight(element: { current: Element | null }): boolean {
  const [isNow, setNow] = useState(false);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new IntersectionObserver((entries) => setNow(entries.at(-1)?.isIntersecting === true), {
      rootMargin: '200px',
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return isNow;
}
