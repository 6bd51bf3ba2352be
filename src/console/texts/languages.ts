/** Texts by what they are in English; `{name}` is a slot. */
export type Catalogue = Readonly<Record<string, string>>;

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

/** The tag of the chosen language, or else of the first of the browser's that there is. */
export function languageTag(): string {
  if (typeof navigator === 'undefined' || typeof document === 'undefined') return 'en';
  const wanted = [kept() ?? '', ...navigator.languages];
  const known = wanted.map((tag) => tag.split('-')[0] ?? '').find((tag) => Object.hasOwn(LANGUAGES, tag));
  return known ?? 'en';
}

function kept(): string | null {
  try {
    return localStorage.getItem(CHOSEN);
  } catch {
    // In a frame of another page a browser may keep nothing.
    return null;
  }
}

/** For `Intl`: the browser's own, such as de-AT, where the console speaks its language; else that of the console. */
export function locale(): string | undefined {
  const tag = languageTag();
  return typeof document === 'undefined' || navigator.language.startsWith(tag) ? undefined : tag;
}

/** The language of the console in this browser, which the page then names as its own. */
export function chosenLanguage(): Language {
  const tag = languageTag();
  if (typeof document !== 'undefined') document.documentElement.lang = tag;
  return LANGUAGES[tag] ?? { name: tag, load: english };
}

/** Keeps the language for this browser, and loads the page anew in it. */
export function chooseLanguage(tag: string): void {
  localStorage.setItem(CHOSEN, tag);
  location.reload();
}
