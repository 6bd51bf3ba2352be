import { counted } from '../../texts/texts.ts';
/** Views of a body. */
export const BODY_VIEWS = ['pretty', 'raw', 'hex'] as const;

/** One of `BODY_VIEWS`. */
export type BodyView = (typeof BODY_VIEWS)[number];

const FORM = /^[\w.%+~-]+=[^\s{]*(?:&|$)/;
const BYTES_IN_A_LINE = 16;
const MAX_BYTES = 16_384;

/** The text of a body: JSON and forms line by line, the raw text, or its bytes in UTF-8. */
export function bodyText(body: string, view: BodyView): string {
  if (view === 'raw') return body;
  return view === 'hex' ? hexText(body) : prettyText(body);
}

function prettyText(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    if (!FORM.test(body)) return body;
    return [...new URLSearchParams(body)].map(([name, value]) => `${name} = ${value}`).join('\n');
  }
}

function hexText(body: string): string {
  const bytes = new TextEncoder().encode(body);
  const lines: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, MAX_BYTES); at += BYTES_IN_A_LINE) {
    const part = [...bytes.subarray(at, at + BYTES_IN_A_LINE)];
    const hex = part.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const text = part.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${at.toString(16).padStart(4, '0')}  ${hex.padEnd(BYTES_IN_A_LINE * 3 - 1)}  ${text}`);
  }
  if (bytes.length > MAX_BYTES)
    lines.push(counted(bytes.length - MAX_BYTES, '… {count} byte more', '… {count} bytes more'));
  return lines.join('\n');
}
