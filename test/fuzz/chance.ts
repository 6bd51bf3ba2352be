/** Texts that have broken something somewhere. */
const TEXTS = [
  '', ' ', '\0', '\ud800', '\u202e', 'é', '💥', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'null', 'undefined',
  'NaN', 'Infinity', '-0', '1e999', '9007199254740993', '%00', '%zz', '../..', "' or 1=1 --", '<script>', '\r\n\r\n', '{{7*7}}',
  '(1,2)', '(91,0)', '1970-01-01T00:00:00Z', '275760-09-13', '00000000-0000-7000-8000-000000000000', 'temperature', 'serial-1',
]; // oxfmt-ignore

const NUMBERS = [
  0, -0, 1, -1, 0.1, 2 ** 31, 2 ** 31 - 1, -(2 ** 31), 2 ** 53, 2 ** 63, 1e21, 1e308, 5e-324, -1e308, 1767225600, 1767225600000,
]; // oxfmt-ignore

/** The same seed makes the same choices (mulberry32). */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  int(below: number): number {
    return Math.floor(this.next() * below);
  }

  of(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(list.length)] as T;
  }

  text(): string {
    if (this.of(0.6)) return this.pick(TEXTS);
    if (this.of(0.05)) return this.pick(TEXTS).repeat(this.int(5_000));
    return Array.from({ length: this.int(20) }, () => String.fromCharCode(this.int(this.of(0.8) ? 128 : 65_536))).join(
      '',
    );
  }

  number(): number {
    return this.of(0.7) ? this.pick(NUMBERS) : (this.next() - 0.5) * 10 ** this.int(20);
  }

  json(depth = 3): unknown {
    const kind = this.int(depth > 0 ? 8 : 5);
    if (kind === 0) return null;
    if (kind === 1) return this.of(0.5);
    if (kind === 2) return this.number();
    if (kind <= 4) return this.text();
    const length = this.int(5);
    if (kind <= 6) return Object.fromEntries(Array.from({ length }, () => [this.text(), this.json(depth - 1)]));
    return Array.from({ length }, () => this.json(depth - 1));
  }

  /** JSON text, sometimes broken, sometimes very deep. */
  jsonText(value: unknown = this.json()): string {
    const text = JSON.stringify(value) ?? '';
    if (this.of(0.01)) return '['.repeat(this.int(60_000));
    if (this.of(0.01)) return `{"a":`.repeat(20_000) + '1' + '}'.repeat(20_000);
    if (this.of(0.15)) return this.mutated(text);
    return text;
  }

  mutated(text: string): string {
    const at = this.int(text.length + 1);
    const kind = this.int(4);
    if (kind === 0) return text.slice(0, at);
    if (kind === 1) return text.slice(0, at) + this.text() + text.slice(at);
    if (kind === 2) return text.slice(0, at) + text.slice(at + 1 + this.int(5));
    return text + text;
  }
}
