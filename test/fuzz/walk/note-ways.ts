import type { MutationWay } from './ways.ts';

const AT = '2002-01-01T00:00:00Z';

/** Ways to the mutations of notes. */
export const NOTES: Record<string, MutationWay> = {
  addNote: {
    args: (w) => [
      { deviceId: w.deviceIds[0], text: 'x'.repeat(Math.min(w.size.text, 2_000)) },
      { deviceId: w.deviceIds[0], text: 'x', at: AT },
    ],
  },
  updateNote: { make: (maker) => maker.note(), args: (_, id) => [{ id, text: 'y', at: AT }] },
  removeNote: { make: (maker) => maker.note(), args: (_, id) => [{ id }] },
};
