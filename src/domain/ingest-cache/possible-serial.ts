/** Whether a device may have this serial number: no longer one is kept, and no database takes a NUL. */
export function isPossibleSerial(name: string): boolean {
  return name.length <= 200 && !name.includes('\0');
}
