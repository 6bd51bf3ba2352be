import type { Database } from '../ports/database.ts';
import type { Transmitter } from '../ports/transmitter.ts';
import { alertsUrl } from './alertmanager.ts';
import { DeliveryExchange } from './delivery-exchange.ts';
import type { FiringAlerts } from './firing-alerts.ts';

interface RepeaterDeps {
  database: Database;
  firing: FiringAlerts;
  transmitter: Transmitter;
  now: () => number;
}

/** Tells Alertmanagers again of what still fires; whether they take it shows with the next time. */
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
        if (alerts.length === 0 || url === null || isStopping()) return;
        await transmitter.post({ url: alertsUrl(url), headers: {}, body: JSON.stringify(alerts) });
      }
    }),
  );
}
