import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useStore } from '../../api/store.ts';
import { useQuery } from '../../api/use-query.ts';
import { href, usePlace } from '../../navigation/place.ts';
import { useTitle } from '../../navigation/use-title.ts';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { may, workspaceId } from '../../session/session.ts';
import { UnknownBanner } from '../../unknown/unknown-banner.tsx';
import { BulkActions } from './bulk-actions.tsx';
import { ColumnSheet } from './column-sheet.tsx';
import { type ColumnProduct, columnsOf } from './columns.ts';
import { isNarrow, readFilter } from './device-filter.ts';
import { DeviceFilters } from './device-filters.tsx';
import { DeviceTable } from './device-table.tsx';
import { DeviceChoices } from './devices.graphql.ts';
import { ImportDevices } from './import-devices.tsx';
import { NewDevice } from './new-device.tsx';
import { useDeviceList } from './use-device-list.ts';
import { useLiveRows } from './use-live-rows.ts';
import { Views } from './views.tsx';
import './devices.css';
import { t } from '../../texts/texts.ts';
import { countText } from '../../texts/count-text.ts';

/** Rows before the end at which the next page is fetched. */
const NEAR = 30;
const NO_ROWS: ReadonlySet<string> = new Set();
const NO_PRODUCTS: readonly ColumnProduct[] = [];

/** The devices of all products: filtered, ordered, live, with bulk actions. */
export function DevicesScreen() {
  useTitle(t('Devices'));
  const workspace = useStore(workspaceId);
  const { query } = usePlace();
  const filter = readFilter(query);
  const list = useDeviceList(workspace, filter);
  const choices = useQuery(DeviceChoices, workspace === null ? null : { workspaceId: workspace });
  const [selected, setSelected] = useState(NO_ROWS);
  const [sight, setSight] = useState<[first: number, end: number]>([0, 0]);
  const [isAdding, setAdding] = useState(false);
  const [isImporting, setImporting] = useState(false);
  const [isArranging, setArranging] = useState(false);
  const { rows } = list;
  const visible = useMemo(() => rows.slice(...sight).map(({ id }) => id), [rows, ...sight]);
  const changes = useLiveRows(workspace, visible, list.refetch);
  const tags = useMemo(() => [...new Set(rows.flatMap((row) => row.tags))].sort(), [rows]);
  const onSight = useCallback((first: number, end: number) => setSight([first, end]), []);
  useEffect(() => {
    if (rows.length - sight[1] < NEAR) list.more();
  }, [sight, rows]);
  const chosen = rows.filter(({ id }) => selected.has(id));
  const card = useRef<HTMLElement>(null);
  const isChoosing = chosen.length > 0;
  useLayoutEffect(() => {
    if (!isChoosing) return;
    // Move a focus that was lost with the bulk actions to the list.
    return () => {
      if (document.activeElement === document.body) card.current?.focus({ preventScroll: true });
    };
  }, [isChoosing]);
  const { data } = choices;
  const products = useMemo(() => data?.products.edges.map(({ node }) => node) ?? NO_PRODUCTS, [data]);
  const shown = useMemo(
    () => (filter.productId === null ? products : products.filter(({ id }) => id === filter.productId)),
    [products, filter.productId],
  );
  const columnNames = filter.columns?.join(',') ?? null;
  const columns = useMemo(() => columnsOf(filter.columns, shown), [columnNames, shown]);
  const isEmpty = list.fresh && rows.length === 0;
  return (
    <main class="page">
      <div class="page-head">
        <h1 class="grow">Devices {list.total !== null && <span class="count">{countText(list.total)}</span>}</h1>
        {workspace !== null && (
          <Views
            workspaceId={workspace}
            views={data?.workspace.deviceViews ?? []}
            query={query.toString()}
            mayShare={may('CONFIGURE')}
            onChange={(next) => choices.change((before) => ({ ...before, workspace: next }))}
          />
        )}
        <button type="button" onClick={() => setArranging(true)}>
          Columns
        </button>
        {may('CONFIGURE') && (
          <>
            <button type="button" onClick={() => setImporting(true)}>
              Import
            </button>
            <button type="button" class="primary" onClick={() => setAdding(true)}>
              <Icon name="plus" /> New device
            </button>
          </>
        )}
      </div>
      <UnknownBanner />
      <DeviceFilters filter={filter} products={products} tags={tags} />
      {list.error !== null && <Note kind="error">{list.error}</Note>}
      <section
        ref={card}
        class="card device-list"
        aria-label="List of devices"
        aria-busy={list.loading}
        data-fresh={list.fresh}
        tabIndex={-1}
      >
        {isEmpty ? (
          <div class="empty">
            <p>No device {isNarrow(filter) ? 'fits' : 'yet'}.</p>
            {isNarrow(filter) ? <a href={href('/devices')}>Show all</a> : <a href={href('/start')}>First steps</a>}
          </div>
        ) : (
          <DeviceTable
            rows={rows}
            total={list.total}
            filter={filter}
            columns={columns}
            changes={changes}
            selected={selected}
            onSelect={setSelected}
            onSight={onSight}
          />
        )}
        {list.hasMore && (
          <button type="button" class="quiet more" onClick={list.more}>
            More
          </button>
        )}
      </section>
      {isChoosing && (
        <BulkActions
          // Reset for another filter, whose matches are others.
          key={JSON.stringify(filter)}
          devices={chosen}
          total={list.total}
          workspaceId={workspace}
          filter={filter}
          plans={choices.data?.plans ?? []}
          products={products}
          onDone={() => {
            setSelected(NO_ROWS);
            list.refetch();
          }}
          onClear={() => setSelected(NO_ROWS)}
        />
      )}
      {isArranging && <ColumnSheet columns={columns} products={shown} onClose={() => setArranging(false)} />}
      {isAdding && (
        <NewDevice
          products={products}
          plans={choices.data?.plans ?? []}
          productId={filter.productId}
          onClose={() => setAdding(false)}
        />
      )}
      {isImporting && (
        <ImportDevices
          products={products}
          plans={choices.data?.plans ?? []}
          productId={filter.productId}
          onDone={list.refetch}
          onClose={() => setImporting(false)}
        />
      )}
    </main>
  );
}
