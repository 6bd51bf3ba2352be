import { useEffect } from 'preact/hooks';
import { href, navigate } from '../navigation/place.ts';
import { t } from '../texts/texts.ts';

let handed: File | null = null;

/** Takes the file that was dropped on another screen; null: none was. */
export function takeHandedFile(): File | null {
  const file = handed;
  handed = null;
  return file;
}

/** While mounted and allowed, a file dropped anywhere on the page leads to its import for the device. */
export function useDroppedFile(deviceId: string, isAllowed: boolean): void {
  useEffect(() => {
    if (!isAllowed) return;
    const onDragOver = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes(t('Files')) === true) event.preventDefault();
    };
    const onDrop = (event: DragEvent): void => {
      const file = event.dataTransfer?.files[0];
      if (file === undefined || event.defaultPrevented) return;
      event.preventDefault();
      handed = file;
      navigate(href('/import', { device: deviceId }));
    };
    document.addEventListener('dragover', onDragOver);
    document.addEventListener('drop', onDrop);
    return () => {
      document.removeEventListener('dragover', onDragOver);
      document.removeEventListener('drop', onDrop);
    };
  }, [deviceId, isAllowed]);
}
