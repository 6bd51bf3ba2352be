import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useStore } from '../../api/store.ts';
import { useQuery } from '../../api/use-query.ts';
import { href, useParameter } from '../../navigation/place.ts';
import { useTitle } from '../../navigation/use-title.ts';
import { Note } from '../../parts/note.tsx';
import { may, workspaceId } from '../../session/session.ts';
import { zoneName } from '../../time/local-time.ts';
import { ColumnsCard, firstCells } from './columns-card.tsx';
import { DeviceCard } from './device-card.tsx';
import { FileCard, type OpenFile } from './file-card.tsx';
import { type ColumnUse, guessColumns } from './guess-columns.ts';
import { ImportedDevice, ImportProducts } from './import.graphql.ts';
import { type ImportProgress, ImportRun } from './import-run.ts';
import { OutcomeCard } from './outcome-card.tsx';
import { PreviewCard, usePreview } from './preview-card.tsx';
import type { ImportSettings } from './send-piece.ts';
import './import.css';
import { t } from '../../texts/texts.ts';

/** An import or its trial that was begun, with the settings that it has. */
interface Begun {
  run: ImportRun;
  isTrial: boolean;
  progress: ImportProgress;
}

/** Brings values of a file along: the file, whose values they are, what its columns are, and what each would become. */
export function ImportScreen() {
  useTitle(t('Import values'));
  const workspace = useStore(workspaceId);
  const [deviceId, setDeviceId] = useParameter('device');
  const [opened, setOpened] = useState<OpenFile | null>(null);
  const [chosen, setChosen] = useState<Readonly<Record<number, ColumnUse>>>({});
  const [zone, setZone] = useState<string | null>(null);
  const [productId, setProductId] = useState<string | null>(null);
  const [begun, setBegun] = useState<Begun | null>(null);
  const one = useQuery(ImportedDevice, deviceId === null ? null : { id: deviceId });
  const all = useQuery(ImportProducts, deviceId === null ? { workspaceId: workspace } : null);
  const device = deviceId === null ? null : (one.data?.device ?? null);
  const products = all.data?.products.edges.map(({ node }) => node) ?? [];
  const product =
    deviceId === null
      ? (products.find(({ id }) => id === productId) ?? products[0] ?? null)
      : (device?.product ?? null);
  const head = opened?.head ?? null;
  const uses = useMemo((): ColumnUse[] => {
    if (head === null) return [];
    const cells = firstCells(head);
    const guessed = guessColumns({
      headings: head.headings,
      cellsOf: (column) => cells.map((row) => row[column] ?? ''),
      fields: product?.fields ?? [],
      hasDevice: deviceId === null,
    });
    return guessed.map((use, at) => chosen[at] ?? use);
  }, [head, product, deviceId, chosen]);
  const timeZone = zone ?? product?.timeZone ?? zoneName();
  const lacks = lackOf(head !== null, uses, deviceId);
  const settings = useMemo(
    (): ImportSettings | null =>
      head === null || lacks !== null
        ? null
        : { kind: head.kind, deviceId, columns: namesOf(head.headings, uses), timeZone },
    [head, lacks, deviceId, uses, timeZone],
  );
  const preview = usePreview(head, settings);
  const running = useRef<ImportRun | null>(null);
  const forget = (): void => {
    running.current?.end();
    running.current = null;
    setBegun(null);
  };
  useEffect(() => () => running.current?.end(), []);
  const begin = (isTrial: boolean): void => {
    if (opened === null || settings === null) return;
    forget();
    const run = new ImportRun({ ...opened, settings, dryRun: isTrial }, (progress) => {
      if (running.current === run) setBegun({ run, isTrial, progress });
    });
    running.current = run;
    void run.go();
  };
  const state = begun?.progress.state;
  const isBusy = state === 'going' || state === 'waiting';
  if (!may('CONFIGURE'))
    return (
      <main class="page">
        <h1>Import values</h1>
        <Note>Values are imported by those who may CONFIGURE; this session may not.</Note>
      </main>
    );
  return (
    <main class="page import-page">
      <div class="page-head">
        <div class="grow">
          <nav class="crumbs" aria-label="Where this is">
            <a href={href('/devices')}>Devices</a>
            {device !== null && (
              <>
                {' / '}
                <a href={href(`/devices/${device.id}`)}>{device.name}</a>
              </>
            )}
          </nav>
          <h1>Import values</h1>
        </div>
      </div>
      {one.error !== null && deviceId !== null && <Note kind="error">{one.error.message}</Note>}
      <FileCard
        opened={opened}
        isBusy={isBusy}
        onOpen={(next) => {
          forget();
          setChosen({});
          setOpened(next);
        }}
      />
      <DeviceCard
        device={device}
        products={products}
        productId={product?.id ?? null}
        isBusy={isBusy}
        onDevice={(id) => {
          forget();
          setDeviceId(id);
        }}
        onProduct={setProductId}
      />
      {head !== null && (
        <ColumnsCard
          head={head}
          uses={uses}
          fields={product?.fields ?? []}
          productId={product?.id ?? null}
          timeZone={timeZone}
          isBusy={isBusy}
          onUse={(column, use) => {
            forget();
            setChosen((before) => ({ ...before, [column]: use }));
          }}
          onTimeZone={(next) => {
            forget();
            setZone(next === '' ? null : next);
          }}
          onField={() => void (deviceId === null ? all : one).refetch()}
        />
      )}
      {head !== null && <PreviewCard preview={preview} lacks={lacks} />}
      {settings !== null && preview !== null && preview.error === null && !isBusy && state !== 'done' && (
        <div class="row">
          <button type="button" onClick={() => begin(true)}>
            Try all lines
          </button>
          <button type="button" class="primary" onClick={() => begin(false)}>
            Import
          </button>
          <small>A trial stores nothing. To import a file twice does no harm.</small>
        </div>
      )}
      {begun !== null && opened !== null && (
        <OutcomeCard
          progress={begun.progress}
          isTrial={begun.isTrial}
          fileName={opened.file.name}
          head={opened.head}
          onStop={() => begun.run.stop()}
          onGoOn={() => void begun.run.go()}
        />
      )}
      {state === 'done' && (
        <div class="row">
          {begun?.isTrial === true && (
            <button type="button" class="primary" onClick={() => begin(false)}>
              Import
            </button>
          )}
          {device !== null && begun?.isTrial === false && (
            <a class="button primary" href={href(`/devices/${device.id}`)}>
              To {device.name}
            </a>
          )}
        </div>
      )}
    </main>
  );
}

/** What has to be chosen before the first lines can be tried; null: nothing. */
function lackOf(hasFile: boolean, uses: readonly ColumnUse[], deviceId: string | null): string | null {
  if (!hasFile) return t('Choose a file.');
  if (!uses.includes('timestamp')) return t('Choose the column that has the time.');
  if (deviceId === null && !uses.includes('device'))
    return t('Choose the column that names the device, or say above that all values are of one.');
  if (uses.includes('field') !== uses.includes('value'))
    return t('The name of the field and its value are two columns: choose the other one, too.');
  if (uses.every((use) => use === '' || use === 'timestamp' || use === 'device'))
    return t('Choose a field for one of the other columns.');
  return null;
}

/** Names for the headings that are called otherwise than what they are used for. */
function namesOf(headings: readonly string[], uses: readonly ColumnUse[]): Record<string, string> {
  const names: Record<string, string> = {};
  for (const [at, heading] of headings.entries()) if (uses[at] !== heading) names[heading] = uses[at] ?? '';
  return names;
}
