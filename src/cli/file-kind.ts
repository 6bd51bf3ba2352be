/** Format of a file of measurements: `.csv` or `.ndjson`, with `.gz` when it is packed. */
interface FileKind {
  format: 'csv' | 'ndjson';
  packed: boolean;
}

/** Format by `format`, else by the name. Throws when neither says it. */
export function fileKind(path: string, format: string | undefined): FileKind {
  const packed = /\.gz$/i.test(path);
  const named = /\.(csv|ndjson|jsonl)(?:\.gz)?$/i.exec(path)?.[1]?.toLowerCase();
  const said = format ?? (named === 'jsonl' ? 'ndjson' : named);
  if (said !== 'csv' && said !== 'ndjson')
    throw new Error('name the file .csv or .ndjson (with .gz behind it when it is packed), or say --format csv|ndjson');
  return { format: said, packed };
}
