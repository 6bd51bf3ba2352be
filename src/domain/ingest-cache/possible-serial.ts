/** True when a device may have this serial number: neither too long nor with NUL, which no database takes. */
export function isPossibleSerial(name: string): boolean {
  return name.length <= 200 && !name.includes('\0');
}
