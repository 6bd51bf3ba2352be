import type { TargetedEvent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useAction } from '../../api/use-action.ts';
import { takeHandedFile } from '../../importing/handed-file.ts';
import { Note } from '../../parts/note.tsx';
import { type FileHead, readHead } from './file-head.ts';
import { openFile, type TextFile } from './file-text.ts';
import { counted, t } from '../../texts/texts.ts';
import { LOCALE } from '../../texts/languages.ts';

/** A file that was opened, with its begin. */
export interface OpenFile {
  file: TextFile;
  head: FileHead;
}

/** Characters that are read for the head. */
const HEAD = 262_144;

async function readBegin(file: TextFile): Promise<FileHead> {
  let text = '';
  let isWhole = true;
  for await (const piece of file.read()) {
    text += piece;
    if (text.length < HEAD) continue;
    isWhole = false;
    break;
  }
  const head = readHead(text, isWhole);
  if (head === null) throw new Error(t('The file has no lines of values: it needs headings, and lines below them.'));
  return head;
}

interface FileCardProps {
  opened: OpenFile | null;
  /** True while the file is being imported. */
  isBusy: boolean;
  onOpen: (opened: OpenFile) => void;
}

/** Takes a file: dropped anywhere on the page, or chosen. */
export function FileCard({ opened, isBusy, onOpen }: FileCardProps) {
  const [isOver, setOver] = useState(false);
  const opening = useAction(async (given: File) => {
    const file = await openFile(given);
    onOpen({ file, head: await readBegin(file) });
  });
  useEffect(() => {
    const given = takeHandedFile();
    if (given !== null) void opening.run(given);
  }, []);
  useEffect(() => {
    if (isBusy) return;
    const over = (event: DragEvent): void => {
      event.preventDefault();
      setOver(event.type === 'dragover');
    };
    const drop = (event: DragEvent): void => {
      event.preventDefault();
      setOver(false);
      const given = event.dataTransfer?.files[0];
      if (given !== undefined) void opening.run(given);
    };
    document.addEventListener('dragover', over);
    document.addEventListener('dragleave', over);
    document.addEventListener('drop', drop);
    return () => {
      document.removeEventListener('dragover', over);
      document.removeEventListener('dragleave', over);
      document.removeEventListener('drop', drop);
    };
  }, [isBusy]);
  const onChange = (event: TargetedEvent<HTMLInputElement>): void => {
    const given = event.currentTarget.files?.[0];
    if (given !== undefined) void opening.run(given);
    // The same file may be chosen again, once it was changed.
    event.currentTarget.value = '';
  };
  return (
    <section class="card padded stack" aria-labelledby="import-file" aria-busy={opening.busy}>
      <h2 id="import-file">1. The file</h2>
      <label class="drop" data-over={isOver}>
        <input type="file" accept=".csv,.tsv,.txt,.ndjson,.jsonl,.gz,text/csv" disabled={isBusy} onChange={onChange} />
        {opened === null ? (
          <span>
            <strong>Drop a file here</strong>, or click to choose one: CSV from a spreadsheet or another program (comma,
            semicolon or tab), or NDJSON; also packed by gzip.
          </span>
        ) : (
          <span>
            <strong>{opened.file.name}</strong> {sizeText(opened.file.size)}, {kindText(opened.head)}
            {opened.file.charset !== 'utf-8' && `, read as ${opened.file.charset}`}
            <small> Drop or choose another one to take that instead.</small>
          </span>
        )}
      </label>
      {opening.error !== null && <Note kind="error">{opening.error}</Note>}
    </section>
  );
}

const DELIMITERS = new Map([
  [',', t('commas')],
  [';', t('semicolons')],
  ['\t', t('tabs')],
]);

function kindText({ kind, delimiter, headings }: FileHead): string {
  if (kind === 'ndjson') return 'NDJSON';
  return counted(headings.length, 'CSV with {text}, {count} column', 'CSV with {text}, {count} columns', {
    text: DELIMITERS.get(delimiter) ?? `"${delimiter}"`,
  });
}

function sizeText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  let [size, unit] = [bytes, 0];
  for (; size >= 1_000 && unit < units.length - 1; unit += 1) size /= 1_000;
  return `${size.toLocaleString(LOCALE, { maximumFractionDigits: 1 })} ${units[unit]}`;
}
