import type { Change, Cluster } from '../domain/ports/cluster.ts';

/** A single node: all listeners are in this process. */
export class LocalCluster implements Cluster {
  readonly shared = false;
  readonly connected = true;
  readonly #listeners: ((changes: Change[]) => void)[] = [];

  async changed(changes: Change[]): Promise<void> {
    for (const listener of this.#listeners) listener(changes);
  }

  onChanged(listener: (changes: Change[]) => void): void {
    this.#listeners.push(listener);
  }

  onMissed(): void {}

  publish(): void {}

  onMessage(): void {}

  async stop(): Promise<void> {}
}
