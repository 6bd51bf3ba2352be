import type { Database } from '../ports/database.ts';
import type { Transmitter } from '../ports/transmitter.ts';
import { alertsUrl, asFiring, type ManagedAlert } from './alertmanager.ts';
import { DeliveryExchange } from './delivery-exchange.ts';
import type { FiringAlerts } from './firing-alerts.ts';

interface RepeaterDeps {
  database: Database;
  firing: FiringAlerts;
  transmitter: Transmitter;
  now: () => number;
}

/** Tells Alertmanagers again of what still fires, and of ends that no message told. */
export async function repeatAlerts(
  { database, firing, transmitter, now }: RepeaterDeps,
  isStopping: () => boolean,
): Promise<void> {
  const exchange = new DeliveryExchange(database, '');
  const targets = await exchange.targets(database.read(), await firing.due(now()), now());
  await Promise.all(
    targets.map(async ({ key, url }) => {
      for (;;) {
        const alerts = await database.write((em) => firing.take(em, key, now()));
        if (alerts.size === 0 || url === null) return;
        const body = JSON.stringify([...alerts.values()]);
        const { isDone } = await transmitter.post({ url: alertsUrl(url), headers: {}, body });
        // It was not told of ends: with the next time it is.
        const kept = [...alerts].map(([id, alert]): [string, ManagedAlert] => [id, asFiring(alert)]);
        if (!isDone) await database.write((em) => firing.note(em, key, new Map(kept), now()));
        // One that does not answer holds up no others' repeats for each of its pages.
        if (!isDone || isStopping()) return;
      }
    }),
  );
}
