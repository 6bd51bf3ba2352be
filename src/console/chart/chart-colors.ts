/** Colours of lines beside each other, in their order. */
export const LINE_COLORS = ['series-1', 'series-2', 'series-3', 'series-4', 'series-5', 'series-6'] as const;

const NAMES = ['text', 'muted', 'line', 'panel', 'good', 'warn', 'bad', ...LINE_COLORS];

/** A variable of the style sheet that canvases use. */
export type ColorName = 'text' | 'muted' | 'line' | 'panel' | 'good' | 'warn' | 'bad' | (typeof LINE_COLORS)[number];

let known: Map<string, string> | null = null;
const listeners = new Set<() => void>();

/** A colour of the style sheet in the present theme, such as `rgb(10, 127, 140)`: canvases know no variables. */
export function color(name: ColorName): string {
  known ??= read();
  return known.get(name) ?? 'gray';
}

/** The colour with an opacity from 0 to 1. */
export function faint(name: ColorName, opacity: number): string {
  return color(name).replace(/^rgb\((.*)\)$/, `rgba($1, ${opacity})`);
}

/** Calls whenever the colours change, until the returned function is called. */
export function onColors(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function read(): Map<string, string> {
  const probe = document.createElement('span');
  document.body.append(probe);
  const found = NAMES.map((name): [string, string] => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return new Map(found);
}

function changed(): void {
  known = null;
  for (const listener of listeners) listener();
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', changed);
new MutationObserver(changed).observe(document.documentElement, { attributeFilter: ['data-theme'] });
