/** Where a store says what went wrong behind the scenes; pino fits. */
export interface StoreLog {
  warn(details: object, message: string): void;
}
