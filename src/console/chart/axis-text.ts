/** The font of texts at the axes of charts. */
export const FONT = '12px system-ui, sans-serif';
const AXIS_WIDTH = 64;
/** Pixels between a text at the axis and the chart. */
const BESIDE_TEXT = 9;
const MOST_LETTERS = 16;

/** The same width for most charts; wider when a number would lose its first digits, and so be wrong. */
export function axisWidth(ctx: CanvasRenderingContext2D, texts: readonly string[]): number {
  ctx.save();
  ctx.font = FONT;
  const widest = Math.max(0, ...texts.map((text) => ctx.measureText(text).width));
  ctx.restore();
  return Math.max(AXIS_WIDTH, Math.ceil(widest) + BESIDE_TEXT);
}

/** The part of a name that fits beside the axis. */
export function fittingName(ctx: CanvasRenderingContext2D, name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  ctx.save();
  ctx.font = FONT;
  const fits = (text: string): boolean => ctx.measureText(text).width <= AXIS_WIDTH - BESIDE_TEXT;
  let text = name.slice(0, MOST_LETTERS);
  let shown = name.length > MOST_LETTERS ? `${text}…` : name;
  while (text !== '' && !fits(shown)) {
    text = text.slice(0, -1);
    shown = `${text}…`;
  }
  ctx.restore();
  return shown;
}

let measuring: CanvasRenderingContext2D | null = null;

/** The width of the widest text, in pixels. */
export function widthOf(texts: readonly string[]): number {
  measuring ??= document.createElement('canvas').getContext('2d')!;
  const ctx = measuring;
  ctx.font = FONT;
  return Math.ceil(Math.max(0, ...texts.map((text) => ctx.measureText(text).width)));
}
