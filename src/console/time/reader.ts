import { createStore } from '../api/store.ts';
import { kept } from '../texts/kept.ts';

const ZONE = 'inlet.zone';
const CLOCK = 'inlet.clock';

/** The clocks to choose from; `auto`: as the browser's language has it. */
export const CLOCKS = ['auto', '24', '12'] as const;

/** A clock of 24 or of 12 hours. */
type Clock = (typeof CLOCKS)[number];

/** How a reader wants to see times. */
interface Reader {
  /** A zone by its IANA name; null: that of the browser. */
  zone: string | null;
  clock: Clock;
}

/** The choice of this browser. */
export const reader = createStore<Reader>({
  zone: knownZone(kept(ZONE)),
  clock: CLOCKS.find((name) => name === kept(CLOCK)) ?? 'auto',
});

/** Chooses zone or clock, also for later visits. */
export function chooseReader(change: Partial<Reader>): void {
  const next = { ...reader.get(), ...change };
  localStorage.setItem(ZONE, next.zone ?? '');
  localStorage.setItem(CLOCK, next.clock);
  reader.set(next);
}

/** The zone of this browser by its IANA name, such as `Europe/Berlin`. */
export function browserZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function knownZone(name: string | null): string | null {
  if (name === null || name === '') return null;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}
