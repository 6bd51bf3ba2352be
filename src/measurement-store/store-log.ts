/** Log of a store's failures in the background; pino fits. */
export interface StoreLog {
  warn(details: object, message: string): void;
}
