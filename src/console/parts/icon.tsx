const PATHS = {
  none: '',
  device: 'M4 5h12v8H4zM8 16h4M10 13v3',
  product: 'M10 2.5 17 6v8l-7 3.5L3 14V6zM3 6l7 3.5L17 6M10 9.5v8',
  dashboard: 'M3 4h6v5H3zM11 4h6v8h-6zM3 11h6v5H3zM11 14h6v2h-6z',
  key: 'M8.5 11.5a4 4 0 1 1 1-3.9H18v3h-2v2h-2.5v-2h-4',
  code: 'm7 6-4 4 4 4M13 6l4 4-4 4',
  search: 'M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12zm4.5-1.5L17.5 17.5',
  check: 'm4 10.5 4 4 8-9',
  theme: 'M10 3a7 7 0 1 0 0 14zM10 3a7 7 0 0 1 0 14',
  leave: 'M12 4H4v12h8M9 10h8m-3-3 3 3-3 3',
  close: 'm5 5 10 10M15 5 5 15',
  plus: 'M10 4v12M4 10h12',
  minus: 'M4 10h12',
  copy: 'M7 7h9v9H7zM4 13V4h9',
  more: 'M4 10h.01M10 10h.01M16 10h.01',
  trash: 'M4 6h12M8 6V4h4v2M6 6l1 11h6l1-11M9 9v5M11 9v5',
  tag: 'M3 3h7l7 7-7 7-7-7zM6.5 6.5h.01',
  download: 'M10 3v10m-4-4 4 4 4-4M4 17h12',
  back: 'M12 5l-5 5 5 5',
  next: 'M8 5l5 5-5 5',
  down: 'M5 8l5 5 5-5',
  home: 'M3 9.5 10 4l7 5.5M5 8.5V16h10V8.5',
  pin: 'M10 18s6-5.5 6-10a6 6 0 0 0-12 0c0 4.5 6 10 6 10zm0-8a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  battery: 'M2 7h13v6H2zM17 9v2',
  signal: 'M4 16v-3M8 16v-6M12 16V7M16 16V4',
  bell: 'M5 14V9a5 5 0 0 1 10 0v5l1.5 1.5h-13zM8.5 17.5h3',
  clock: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4l3 2',
  pencil: 'm4 16 1-4L14 3l3 3-9 9z',
} as const;

/** The name of a drawing. */
export type IconName = keyof typeof PATHS;

/** A small drawing beside a text, or in a button that has a label; never read out. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
