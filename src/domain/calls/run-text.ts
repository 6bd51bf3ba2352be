import type { FinishedRun } from '../decoders/finished-run.ts';
import type { EntryOutcome } from '../decoders/decoder-run.ts';
import type { TextMask } from '../decoders/call-secrets.ts';
import { must } from '../../must.ts';

const MAX_OUTPUT = 65_536;
const MAX_ENTRIES = 131_072;
/** A credential that stands across the cut is known by its end: it is masked before. */
const BEHIND_CUT = 16_384;

/**
 * The run as JSON text for the call log: 64 KiB of output and 128 KiB of entries at most, the cut is marked. Only what is
 * kept goes through `mask` (null: nothing does), which takes texts of the decoder's.
 */
export function runText(run: FinishedRun, mask: TextMask | null = null): string {
  const { entries } = run;
  const masked = (text: string): string => (mask === null ? text : mask(text));
  let texts = '';
  let written = 0;
  for (; written < entries.length && texts.length < MAX_ENTRIES; written += 1) {
    const entry = must(entries[written]);
    texts += (written === 0 ? '' : ',') + JSON.stringify(mask === null ? entry : maskedEntry(entry, mask));
  }
  const error = run.error && { ...run.error, message: masked(run.error.message) };
  const output = run.output ?? 'null';
  const cut = output.length > MAX_OUTPUT;
  return (
    `{"ok":${run.error === null},"output":${cut ? JSON.stringify(`${masked(output.slice(0, MAX_OUTPUT + BEHIND_CUT)).slice(0, MAX_OUTPUT)}…`) : maskedJson(output, mask)}` +
    `,"console":${JSON.stringify(run.console.map(masked))},"error":${JSON.stringify(error)}` +
    `,"durationMs":${run.durationMs},"answer":${maskedJson(JSON.stringify(run.answer), mask)}` +
    `,"entries":[${texts}],"truncated":${cut || written < entries.length}}`
  );
}

function maskedJson(text: string, mask: TextMask | null): string {
  // What a text has in it also stands in the JSON of it.
  if (mask === null || mask(text) === text) return text;
  return JSON.stringify(maskedTexts(JSON.parse(text), mask));
}

function maskedEntry(entry: EntryOutcome, mask: TextMask): EntryOutcome {
  const { device, field, value, message, suggestedField, ...rest } = entry;
  return {
    ...rest,
    device: device && mask(device),
    field: field && mask(field),
    value: maskedTexts(value, mask),
    message: message && mask(message),
    // A masked name is none that a field could have. The type and the names of its parts are no texts of the decoder's.
    ...(suggestedField && mask(suggestedField.identifier) === suggestedField.identifier
      ? {
          suggestedField: {
            ...suggestedField,
            name: suggestedField.name && mask(suggestedField.name),
            unit: suggestedField.unit && mask(suggestedField.unit),
          },
        }
      : {}),
  };
}

/** The text of a call of which nothing was run: why, and of which call it is a copy (null: of none). */
export function reasonText(reason: string, copyOf: string | null = null): string {
  return JSON.stringify({ reason, copyOf });
}

/** What such a text says; null: something was run. */
export function reasonIn(text: string | null): { reason: string; copyOf: string | null } | null {
  return text?.startsWith('{"reason":') === true
    ? (JSON.parse(text) as { reason: string; copyOf: string | null })
    : null;
}

/** The JSON texts of the parts of a run's text, by their names; nothing of it is parsed. */
export function runParts(text: string): Map<string, string> {
  const parts = new Map<string, string>();
  for (let at = 1; text[at] === '"';) {
    const nameEnd = text.indexOf('"', at + 1);
    const from = nameEnd + 2;
    const to = endOfValue(text, from);
    parts.set(text.slice(at + 1, nameEnd), text.slice(from, to));
    at = to + 1;
  }
  return parts;
}

/** Where the JSON value that begins there ends. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfString(text, at);
    else if (code === 0x5b || code === 0x7b) depth += 1;
    else if (code === 0x5d || code === 0x7d) {
      if (depth === 0) return at;
      depth -= 1;
    } else if (code === 0x2c && depth === 0) return at;
  }
  return text.length;
}

/** The quote that ends the string which begins with the one there. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === 0x5c) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}

/** The JSON value with every text and name in it as `mask` gives it. */
export function maskedTexts(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => maskedTexts(item, mask));
  // Without a prototype, so that `__proto__` is a name like any other.
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [name, item] of Object.entries(value)) copy[mask(name)] = maskedTexts(item, mask);
  return copy;
}
