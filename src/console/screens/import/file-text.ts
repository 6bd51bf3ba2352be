import { t } from '../../texts/texts.ts';
/** A file whose text can be read from its begin, more than once. */
export interface TextFile {
  name: string;
  /** Bytes of the file itself. */
  size: number;
  /** The charset that it is read in. */
  charset: string;
  /** The text in pieces; `tell` hears how many bytes of the file were taken. */
  read: (tell?: (bytes: number) => void) => AsyncGenerator<string>;
}

/** Bytes by which the kind of a file is known. */
const BEGIN = 4;

/**
 * Opens a file that a spreadsheet or a program wrote: packed by gzip or not, in UTF-8, in UTF-16 by its mark or first
 * character, else in Windows' western letters. Throws an Error in plain words for an archive.
 */
export async function openFile(file: File): Promise<TextFile> {
  const begin = new Uint8Array(await file.slice(0, BEGIN).arrayBuffer());
  if (begin[0] === 0x50 && begin[1] === 0x4b)
    throw new Error(
      t('This is a ZIP archive, as .xlsx and .ods are: save it as CSV in your spreadsheet, or unpack it.'),
    );
  const isPacked = begin[0] === 0x1f && begin[1] === 0x8b;
  const charset = isPacked ? 'utf-8' : ((await charsetOf(file, begin)) ?? 'windows-1252');
  return {
    name: file.name,
    size: file.size,
    charset,
    read: (tell) => textOf(file, { isPacked, charset, tell }),
  };
}

async function charsetOf(file: File, [a, b]: Uint8Array): Promise<string | null> {
  if ((a === 0xff && b === 0xfe) || (a !== 0 && b === 0)) return 'utf-16le';
  if ((a === 0xfe && b === 0xff) || (a === 0 && b !== undefined && b !== 0)) return 'utf-16be';
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    for await (const bytes of chunksOf(file.stream())) decoder.decode(bytes, { stream: true });
    decoder.decode();
    return 'utf-8';
  } catch {
    return null;
  }
}

async function* textOf(
  file: File,
  { isPacked, charset, tell }: { isPacked: boolean; charset: string; tell: ((bytes: number) => void) | undefined },
): AsyncGenerator<string> {
  let bytes = 0;
  const counting = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform: (chunk, controller) => {
      bytes += chunk.length;
      controller.enqueue(chunk);
    },
  });
  const counted = file.stream().pipeThrough(counting);
  const unpacked = isPacked ? counted.pipeThrough(new DecompressionStream('gzip')) : counted;
  const decoder = new TextDecoder(charset, { fatal: true });
  for await (const chunk of chunksOf(unpacked)) {
    const text = decoder.decode(chunk, { stream: true });
    tell?.(bytes);
    if (text !== '') yield text;
  }
  const rest = decoder.decode();
  if (rest !== '') yield rest;
}

async function* chunksOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
