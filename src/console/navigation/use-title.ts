import { useEffect } from 'preact/hooks';

/** Names the page in the browser's tab and history; null while the name is not known yet. */
export function useTitle(title: string | null): void {
  useEffect(() => {
    document.title = title === null ? 'Inlet' : `${title} · Inlet`;
  }, [title]);
}
