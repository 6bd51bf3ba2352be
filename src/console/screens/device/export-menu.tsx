import { useDroppedFile } from '../../importing/handed-file.ts';
import { href } from '../../navigation/place.ts';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { may } from '../../session/session.ts';

interface ExportMenuProps {
  device: { id: string; name: string };
  /** The shown range. */
  shown: { from: number; to: number };
  /** The zone whose calendar the rows follow. */
  timeZone: string;
}

/** Takes values of a device out as a file, and leads to those that come in; a dropped file leads there, too. */
export function ExportMenu({ device: { id, name }, shown, timeZone }: ExportMenuProps) {
  const mayImport = may('CONFIGURE');
  useDroppedFile(id, mayImport);
  const exportOf = (query: Record<string, string>): string =>
    `/v1/devices/${id}/history.csv?${new URLSearchParams({ layout: 'wide', ...query }).toString()}`;
  const range = { from: new Date(shown.from).toISOString(), to: new Date(shown.to).toISOString() };
  const rows = { ...range, maxPoints: '1000', aggregation: 'MEANING', timeZone };
  return (
    <Menu label="Export" button={<Icon name="download" />} class="boxed">
      <a href={exportOf(range)} download={`${name}.csv`}>
        This range, every value
      </a>
      <a href={exportOf(rows)} download={`${name}.csv`}>
        This range, in rows of one moment
      </a>
      <a href={exportOf({})} download={`${name}.csv`}>
        Everything
      </a>
      {mayImport && (
        <div class="menu-part">
          <a href={href('/import', { device: id })}>Import values…</a>
        </div>
      )}
    </Menu>
  );
}
