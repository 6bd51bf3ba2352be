import type { ComponentChild } from 'preact';
import { countText } from './count-text.ts';
import { LANGUAGE, loadTexts } from './languages.ts';

// Awaited here, so that every module that has a text waits for the reader's language, and English for nothing.
const catalogue = await loadTexts();

/** What stands in place of `{name}` in a text. */
type Slots = Readonly<Record<string, unknown>>;

const RULES = new Intl.PluralRules(LANGUAGE);
const ENGLISH_RULES = new Intl.PluralRules('en');
const SLOT = /\{(\w+)\}/;

/** The text in the reader's language, with its slots filled. `english` is a literal: it is the key of the catalogues. */
export function t(english: string, slots?: Slots): string {
  const text = catalogue[english];
  return filled(typeof text === 'string' && text !== '' ? text : english, slots);
}

/**
 * A text about a number of things, in the form that the reader's language has for it; the slot `{count}` is the number.
 * `one` and `many` are English literals; `many` is the key of the catalogues, which have every form of their language.
 */
export function counted(count: number, one: string, many: string, slots: Slots = {}): string {
  return filled(formOf(count, one, many), { count: countText(count), ...slots });
}

/** The same for what has elements in it, such as the number: `{ count: <strong>…</strong> }`. */
export function countedParts(
  count: number,
  one: string,
  many: string,
  slots: Readonly<Record<string, ComponentChild>>,
): ComponentChild[] {
  return pieces(formOf(count, one, many), slots);
}

/** The same for what has elements in it. Written by build/console-texts.ts in place of a sentence of JSX. */
export function parts(english: string, slots: Readonly<Record<string, ComponentChild>>): ComponentChild[] {
  return pieces(t(english), slots);
}

function formOf(count: number, one: string, many: string): string {
  const forms = catalogue[many];
  if (typeof forms === 'object') return forms[RULES.select(count)] || forms.other || many;
  return ENGLISH_RULES.select(count) === 'one' ? one : many;
}

function filled(text: string, slots: Slots | undefined): string {
  return slots === undefined ? text : text.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(slots[name]));
}

/** Every second piece of the split text is the name of a slot. */
function pieces(text: string, slots: Readonly<Record<string, ComponentChild>>): ComponentChild[] {
  return text.split(SLOT).map((piece, at) => (at % 2 === 0 ? piece : slots[piece]));
}
