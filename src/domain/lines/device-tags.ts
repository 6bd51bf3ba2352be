import type { Line } from './line-protocol.ts';

/** Tags of which the joined values name a device, as LINE_DEVICE_TAGS lists them in order of preference. */
export type DeviceTags = readonly (readonly string[])[];

/** Stands for the measurement's name among tags. */
const MEASUREMENT = 'measurement';

/** The name of the line's device, and the tags that say it; null: no choice has all its tags. */
export function deviceOfLine(
  { measurement, tags }: Line,
  choices: DeviceTags,
): { name: string; by: readonly string[] } | null {
  for (const by of choices) {
    const parts = by.map((tag) => tags.get(tag) ?? (tag === MEASUREMENT ? measurement : ''));
    if (parts.every((part) => part !== '')) return { name: parts.join('-'), by };
  }
  return null;
}

/** Reads `device,measurement+id`; adds what is wrong to `mistakes`. */
export function readDeviceTags(value: string, mistakes: string[]): DeviceTags {
  const choices = value.split(',').map((choice) => choice.split('+').map((tag) => tag.trim()));
  if (choices.some((tags) => tags.includes('')))
    mistakes.push(
      `LINE_DEVICE_TAGS="${value.slice(0, 100)}": expected names of tags such as device,host,measurement+id.`,
    );
  return choices;
}
