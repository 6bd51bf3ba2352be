import type { Server } from 'node:http';
import { StartError } from './config.ts';

/** Listens; rejects with StartError that names the `setting`. */
export function listen(server: Server, host: string, port: number, setting: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (cause: Error): void => reject(new StartError(setting, 'cannot listen', cause));
    server.once('error', failed);
    server.listen(port, host, () => {
      server.off('error', failed);
      resolve();
    });
  });
}
