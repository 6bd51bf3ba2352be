import { createStore } from '../api/store.ts';

const KEY = 'inlet.theme';
const THEMES = ['auto', 'light', 'dark'] as const;

/** The theme; `auto`: the system's. */
type Theme = (typeof THEMES)[number];

/** The choice of this browser. */
export const theme = createStore<Theme>(THEMES.find((name) => name === localStorage.getItem(KEY)) ?? 'auto');

/** Draws the page in the theme chosen, now and whenever it changes. */
export function applyTheme(): void {
  const apply = (name: Theme): void => {
    document.documentElement.dataset['theme'] = name;
    localStorage.setItem(KEY, name);
  };
  apply(theme.get());
  theme.follow(apply);
}

/** The theme after this one: auto, light, dark and round again. */
export function nextTheme(name: Theme): Theme {
  return THEMES[(THEMES.indexOf(name) + 1) % THEMES.length] ?? 'auto';
}
