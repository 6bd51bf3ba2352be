/** Tolerance for clocks: times ahead by less count as now. */
const AHEAD_FROM_MS = 5_000;

/** Values whose times lie ahead of the server's clock; `seconds`: the distance of the latest. */
export interface Ahead {
  values: number;
  seconds: number;
  message: string;
}

/** The times that lie ahead of `now`, in ms UTC; null: none. */
export function aheadOf(times: readonly number[], now: number): Ahead | null {
  let [values, latest] = [0, now];
  for (const time of times) {
    if (time <= now + AHEAD_FROM_MS) continue;
    values += 1;
    latest = Math.max(latest, time);
  }
  return values === 0 ? null : aheadBy(values, Math.round((latest - now) / 1_000));
}

/** The notice about one time, as a sentence; null: not ahead. */
export function aheadNotice(time: number, now: number): string | null {
  if (time <= now + AHEAD_FROM_MS) return null;
  return `The time is ${durationText(Math.round((time - now) / 1_000))} ahead of the server's clock.`;
}

/** Sum over the parts of one request; null: none is ahead. */
export function aheadOfAll(parts: readonly (Ahead | null | undefined)[]): Ahead | null {
  let [values, seconds] = [0, 0];
  for (const part of parts) {
    values += part?.values ?? 0;
    seconds = Math.max(seconds, part?.seconds ?? 0);
  }
  return values === 0 ? null : aheadBy(values, seconds);
}

/** A duration such as "20 h 5 min". */
function durationText(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  if (hours === 0) return `${minutes} min`;
  return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`;
}

function aheadBy(values: number, seconds: number): Ahead {
  const whose = values === 1 ? '1 value is' : `${values} values are, by up to`;
  const message =
    `${whose} ${durationText(seconds)} ahead of the server's clock, and until then newer than what is measured now. ` +
    "Is the device's clock right?";
  return { values, seconds, message };
}
