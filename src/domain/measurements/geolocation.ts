const DECIMAL = String.raw`[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?`;
const PAIR = new RegExp(String.raw`^\s*\(\s*(${DECIMAL})\s*,\s*(${DECIMAL})\s*\)\s*$`);

/** `(lat,lon)` without blanks, or null when the text is no such pair or off the globe (CONTRACT 3). */
export function parseGeolocation(text: string): string | null {
  if (text.length > 200) return null;
  const match = PAIR.exec(text);
  if (match === null) return null;
  const lat = Number(match[1]);
  const lon = Number(match[2]);
  // `+ 0` turns -0 into 0.
  return Math.abs(lat) <= 90 && Math.abs(lon) <= 180 ? `(${lat + 0},${lon + 0})` : null;
}
