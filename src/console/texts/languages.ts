import { kept } from './kept.ts';

/** Texts by what they are in English, or their forms by the plural categories of the language; `{name}` is a slot. */
type Catalogue = Readonly<Record<string, string | Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>>>;

interface Language {
  /** In its own words. */
  name: string;
  load: () => Promise<Catalogue>;
}

const CHOSEN = 'inlet.language';
/** A load that fails gives English. */
const english = (): Promise<Catalogue> => Promise.resolve({});

/** By the tag of its locale. A catalogue of its own is all that another one needs (docs/languages.md). */
export const LANGUAGES: Readonly<Record<string, Language>> = {
  en: { name: 'English', load: english },
  de: { name: 'Deutsch', load: () => import('./de.json').then((module) => module.default, english) },
};

/** The tag of the chosen language, or else of the first of the browser's that there is; a page keeps to one. */
export const LANGUAGE = languageOf(typeof document === 'undefined' ? [] : [kept(CHOSEN) ?? '', ...navigator.languages]);

function languageOf(wanted: readonly string[]): string {
  const known = wanted.map((tag) => tag.split('-')[0] ?? '').find((tag) => Object.hasOwn(LANGUAGES, tag));
  return known ?? 'en';
}

/** For `Intl`: the browser's own, such as de-AT, where the console speaks its language; else that of the console. */
export const LOCALE = typeof document === 'undefined' || navigator.language.startsWith(LANGUAGE) ? undefined : LANGUAGE;

/** Loads the texts of the language, which the page then names as its own. */
export function loadTexts(): Promise<Catalogue> {
  if (typeof document !== 'undefined') document.documentElement.lang = LANGUAGE;
  return LANGUAGES[LANGUAGE]?.load() ?? english();
}

/** Keeps the language for this browser, and loads the page anew in it. */
export function chooseLanguage(tag: string): void {
  localStorage.setItem(CHOSEN, tag);
  location.reload();
}
