import type { ComponentChild } from 'preact';
import { loadTexts } from './languages.ts';

// Awaited here, so that every module that has a text waits for the reader's language, and English for nothing.
const catalogue = await loadTexts();

/** What stands in place of `{name}` in a text. */
type Slots = Readonly<Record<string, unknown>>;

const SLOT = /\{(\w+)\}/;

/** The text in the reader's language, with its slots filled. `english` is a literal: it is the key of the catalogues. */
export function t(english: string, slots?: Slots): string {
  const text = catalogue[english] || english;
  return slots === undefined ? text : text.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(slots[name]));
}

/** The same for what has elements in it. Written by build/console-texts.ts in place of a sentence of JSX. */
export function parts(english: string, slots: Readonly<Record<string, ComponentChild>>): ComponentChild[] {
  // Every second piece is the name of a slot.
  return t(english)
    .split(SLOT)
    .map((piece, at) => (at % 2 === 0 ? piece : slots[piece]));
}
