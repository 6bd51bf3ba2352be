import { useEffect, useState } from 'preact/hooks';

/** The visible rows of a long list and those near them: from `first` up to but without `end`. */
interface RowWindow {
  first: number;
  end: number;
}

const BEFORE_AND_AFTER = 12;

/**
 * Follows which of `count` rows of equal height are visible as the page scrolls, so that only those are drawn. The
 * first row begins at `element`.
 */
export function useWindow(element: { current: HTMLElement | null }, count: number, rowHeight: number): RowWindow {
  const [shown, setShown] = useState<RowWindow>(() => ({
    first: 0,
    end: Math.ceil(innerHeight / rowHeight) + BEFORE_AND_AFTER,
  }));
  useEffect(() => {
    const look = (): void => {
      if (element.current === null) return;
      const top = -element.current.getBoundingClientRect().top;
      const first = Math.max(0, Math.floor(top / rowHeight) - BEFORE_AND_AFTER);
      const end = Math.max(first, Math.ceil((top + innerHeight) / rowHeight) + BEFORE_AND_AFTER);
      setShown((before) => (before.first === first && before.end === end ? before : { first, end }));
    };
    look();
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  }, [element, rowHeight, count]);
  return { first: Math.min(shown.first, count), end: Math.min(shown.end, count) };
}
