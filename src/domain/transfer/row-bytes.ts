const CAPACITY = 81_920;
const DAY_MS = 86_400_000;
const ZERO = 48;
const [MINUS, DOT, COLON, ZULU] = [45, 46, 58, 90];
/** Maximum size of a number with at most three decimals that is written as two small integers. */
const SMALL = 1e9;

/** Writes the rows of a file as UTF-8 straight into bytes, without building texts that would be thrown away at once. */
export class RowBytes {
  #bytes = Buffer.allocUnsafeSlow(CAPACITY);
  #at = 0;
  #day = Number.NaN;
  #date: Uint8Array = new Uint8Array();

  get length(): number {
    return this.#at;
  }

  /** Takes the bytes written since the last time. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#at);
    this.#bytes = Buffer.allocUnsafeSlow(CAPACITY);
    this.#at = 0;
    return taken;
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    const target = this.#bytes;
    let at = this.#at;
    for (let i = 0; i < bytes.length; i += 1) target[at++] = bytes[i]!;
    this.#at = at;
  }

  byte(code: number, times = 1): void {
    this.#reserve(times);
    const target = this.#bytes;
    let at = this.#at;
    for (const end = at + times; at < end; at += 1) target[at] = code;
    this.#at = at;
  }

  text(text: string): void {
    this.#reserve(text.length * 3);
    const target = this.#bytes;
    let at = this.#at;
    for (let i = 0; i < text.length; i += 1) {
      const code = text.charCodeAt(i);
      if (code > 127) {
        this.#at += target.write(text, this.#at, 'utf8');
        return;
      }
      target[at++] = code;
    }
    this.#at = at;
  }

  /** Writes milliseconds since 1970 like `toISOString`; keeps the day's text. */
  time(time: number): void {
    const day = Math.floor(time / DAY_MS);
    if (day !== this.#day) {
      this.#day = day;
      this.#date = Buffer.from(new Date(day * DAY_MS).toISOString().slice(0, -13));
    }
    this.raw(this.#date);
    this.#reserve(13);
    const inDay = time - day * DAY_MS;
    const seconds = Math.floor(inDay / 1000);
    const milliseconds = inDay - seconds * 1000;
    const minutes = Math.floor(seconds / 60);
    const hours = Math.floor(minutes / 60);
    this.#two(hours);
    this.#bytes[this.#at++] = COLON;
    this.#two(minutes - hours * 60);
    this.#bytes[this.#at++] = COLON;
    this.#two(seconds - minutes * 60);
    this.#bytes[this.#at++] = DOT;
    this.#three(milliseconds);
    this.#bytes[this.#at++] = ZULU;
  }

  /**
   * Writes a number like `String`. A number that equals its thousandths divided by a thousand is written from those:
   * within 15 digits no other decimal is the same number.
   */
  number(value: number): void {
    const size = Math.abs(value);
    const thousandths = Math.round(size * 1000);
    if (!(size < SMALL) || thousandths / 1000 !== size) {
      this.text(String(value));
      return;
    }
    this.#reserve(16);
    if (value < 0) this.#bytes[this.#at++] = MINUS;
    const whole = Math.floor(thousandths / 1000);
    this.#whole(whole);
    const rest = thousandths - whole * 1000;
    if (rest === 0) return;
    this.#bytes[this.#at++] = DOT;
    this.#three(rest);
    while (this.#bytes[this.#at - 1] === ZERO) this.#at -= 1;
  }

  #whole(number: number): void {
    let digits = 1;
    for (let limit = 10; number >= limit; limit *= 10) digits += 1;
    const end = this.#at + digits;
    let left = number | 0;
    for (let at = end - 1; at >= this.#at; at -= 1) {
      const next = (left / 10) | 0;
      this.#bytes[at] = ZERO + left - next * 10;
      left = next;
    }
    this.#at = end;
  }

  #two(number: number): void {
    const tens = (number / 10) | 0;
    this.#bytes[this.#at++] = ZERO + tens;
    this.#bytes[this.#at++] = ZERO + number - tens * 10;
  }

  #three(number: number): void {
    const hundreds = (number / 100) | 0;
    this.#bytes[this.#at++] = ZERO + hundreds;
    this.#two(number - hundreds * 100);
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#at + bytes));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}
