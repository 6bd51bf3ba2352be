import type { TestServer } from '../../support/server.ts';
import type { MutationWay, OutputWays } from './ways.ts';
import type { World } from './world.ts';

const MOST_WIDGETS = 200;
const MOST_TEXT = 1_000;

/** As many widgets as a dashboard may have, with long texts. */
const widgets = ({ size, deviceIds }: Pick<World, 'size' | 'deviceIds'>): object[] =>
  Array.from({ length: Math.min(MOST_WIDGETS, size.parts) }, (_, at) => ({
    kind: 'line',
    fields: ['f0'],
    place: { x: 0, y: at, width: 1, height: 1 },
    options: { note: 'n'.repeat(Math.min(MOST_TEXT, size.text)) },
    source: { deviceIds: [deviceIds[at % deviceIds.length]] },
  }));

/** The id of a new dashboard with as much as one may have. */
export async function makeDashboard(
  server: TestServer,
  world: Pick<World, 'size' | 'workspaceId' | 'deviceIds'>,
): Promise<string> {
  const save = 'mutation ($w: ID, $d: JSON!) { saveDashboard(workspaceId: $w, name: "walked", widgets: $d) { id } }';
  const made = await server.gql(save, { w: world.workspaceId, d: widgets(world) });
  return made['saveDashboard'].id;
}

/** Ways to the mutations of dashboards. A new one each time would soon be more than a workspace may have. */
export const DASHBOARDS: Record<string, MutationWay> = {
  saveDashboard: {
    args: (w) => {
      const one = { id: w.dashboardId, workspaceId: w.workspaceId, name: `n${w.next()}`, widgets: widgets(w) };
      return [one, { ...one, key: `walked-${w.next()}` }];
    },
  },
  deleteDashboard: { make: (maker) => maker.dashboard(), args: (_, id) => [{ id }] },
};

/** Ways to what dashboards show. */
export const OF_DASHBOARDS: OutputWays = {
  'Query.dashboard': (w) => [{ id: w.dashboardId }],
};
