const DAY_MS = 86_400_000;
const TWO = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'));

/**
 * Milliseconds since 1970 as ISO 8601 text in UTC with milliseconds, like `toISOString` and several times as fast for
 * times that stand close together: the day's text is kept.
 */
export class IsoTime {
  #day = Number.NaN;
  #date = '';

  format(time: number): string {
    const day = Math.floor(time / DAY_MS);
    if (day !== this.#day) {
      this.#day = day;
      this.#date = new Date(day * DAY_MS).toISOString().slice(0, -13);
    }
    const inDay = time - day * DAY_MS;
    const seconds = Math.floor(inDay / 1000);
    const milliseconds = String(inDay - seconds * 1000).padStart(3, '0');
    const minutes = Math.floor(seconds / 60);
    return `${this.#date}${TWO[Math.floor(minutes / 60)]}:${TWO[minutes % 60]}:${TWO[seconds % 60]}.${milliseconds}Z`;
  }
}
