import { useMemo } from 'preact/hooks';
import { useLive } from '../api/use-live.ts';
import { useQuery } from '../api/use-query.ts';
import { may } from '../session/session.ts';
import { AlertChanged, type AlertParts, FiringAlerts } from './alerts.graphql.ts';

interface Firing {
  /** Newest first; null: not known yet. */
  alerts: readonly AlertParts[] | null;
  /** True while the first answer is not there. */
  isWaiting: boolean;
}

/** The alerts that fire of a product or a device, live; none where the token may not read. */
export function useFiring(of: { productId: string } | { deviceId: string }): Firing {
  const isAllowed = may('READ');
  const { data, loading, change, refetch } = useQuery(FiringAlerts, isAllowed ? of : null);
  const followed = 'deviceId' in of ? { deviceIds: [of.deviceId] } : of;
  useLive(AlertChanged, isAllowed ? followed : null, {
    cursorOf: ({ alertChanged }) => alertChanged.cursor,
    missed: () => void refetch(),
    next: ({ alertChanged: { alert } }) =>
      change(({ alerts }) => {
        const others = alerts.edges.filter(({ node }) => node.id !== alert.id);
        return { alerts: { edges: alert.state === 'FIRING' ? [{ node: alert }, ...others] : others } };
      }),
  });
  const alerts = useMemo(() => data?.alerts.edges.map(({ node }) => node) ?? null, [data]);
  return { alerts, isWaiting: data === null && loading };
}
