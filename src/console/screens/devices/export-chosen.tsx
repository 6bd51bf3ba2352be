import { useState } from 'preact/hooks';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { conditionArguments, type DeviceFilter } from './device-filter.ts';
import { counted } from '../../texts/texts.ts';

/** Maximum ids that fit into an address. */
const IDS_A_FILE = 300;

interface ExportChosenProps {
  /** Ids of the devices; null: all that match the filter. */
  ids: readonly string[] | null;
  workspaceId: string | null;
  filter: DeviceFilter;
  /** Finds all that match the filter, and calls back with them. */
  find: (then: (found: readonly { id: string }[]) => void) => void;
  isBusy: boolean;
}

/** Exports the values of devices: as one file, or several for many selected devices. */
export function ExportChosen({ ids: chosen, workspaceId, filter, find, isBusy }: ExportChosenProps) {
  const [found, setFound] = useState<{ wanted: string; ids: readonly string[] } | null>(null);
  // A file is asked for by an address that has no conditions on values: those devices are found first, and named.
  const isFound = chosen === null && (filter.values.length > 0 || filter.lowBattery);
  const wanted = JSON.stringify([workspaceId, conditionArguments(filter)]);
  const ids = isFound ? (found?.wanted === wanted ? found.ids : []) : chosen;
  if (ids?.length === 0)
    return (
      <button
        type="button"
        disabled={isBusy}
        onClick={() => find((some) => setFound({ wanted, ids: some.map(({ id }) => id) }))}
      >
        <Icon name="download" /> Find for export
      </button>
    );
  if (ids === null || ids.length <= IDS_A_FILE)
    return (
      <a class="button" href={ids === null ? addressOf(filter, workspaceId) : addressOfIds(ids)} download>
        <Icon name="download" /> Export
      </a>
    );
  const parts = Array.from({ length: Math.ceil(ids.length / IDS_A_FILE) }, (_, at) => at * IDS_A_FILE);
  return (
    <Menu
      label={counted(parts.length, 'Export in {count} file', 'Export in {count} files')}
      class="boxed"
      button={
        <>
          <Icon name="download" /> {counted(parts.length, 'Export in {count} file', 'Export in {count} files')}
        </>
      }
    >
      {parts.map((start, index) => {
        const part = ids.slice(start, start + IDS_A_FILE);
        return (
          <a key={start} data-stays href={addressOfIds(part)} download={`devices-${index + 1}.csv`}>
            File {index + 1}: devices {start + 1} to {start + part.length}
          </a>
        );
      })}
    </Menu>
  );
}

function addressOfIds(ids: readonly string[]): string {
  return `/v1/export.csv?${new URLSearchParams(ids.map((id) => ['device', id])).toString()}`;
}

function addressOf({ search, productId, tags, online }: DeviceFilter, workspaceId: string | null): string {
  const query = new URLSearchParams(tags.map((tag) => ['tag', tag]));
  const more = { product: productId, search, online: online === null ? null : String(online), workspace: workspaceId };
  for (const [name, value] of Object.entries(more)) if (value !== null && value !== '') query.set(name, value);
  return `/v1/export.csv?${query.toString()}`;
}
