import { LINE_PATHS } from './line-paths.ts';
import type { OperationRight } from './rights.ts';

/** The requirement of a REST path, and its methods. */
export interface PathRight extends OperationRight {
  methods: readonly string[];
  /** True when it covers all paths below it. */
  below?: true;
  /** True when the console's cookie counts as a token: its pages link to these files or send them. Never to record. */
  cookie?: true;
  /** True for the paths under load: answered on the bare request, in front of the app. */
  bare?: true;
}

/** Every REST path: the server answers no others, and each only for the methods and the requirement of its row. */
export const PATHS = {
  '/v1/devices/:device/record': { methods: ['POST'], needs: ['RECORD'], bare: true },
  '/v1/devices/:device/history.csv': { methods: ['GET'], needs: ['READ'], cookie: true },
  '/v1/devices/:device/history.ndjson': { methods: ['GET'], needs: ['READ'], cookie: true },
  '/v1/export.csv': { methods: ['GET'], needs: ['READ'], cookie: true },
  '/v1/export.ndjson': { methods: ['GET'], needs: ['READ'], cookie: true },
  '/v1/devices/:device/import': { methods: ['POST'], needs: ['CONFIGURE'], cookie: true },
  '/v1/import': { methods: ['POST'], needs: ['CONFIGURE'], cookie: true },
  '/v1/devices.csv': { methods: ['POST'], needs: ['CONFIGURE'] },
  // The id in the path is the secret.
  '/integrations/api/:webhook': { methods: ['GET', 'POST'], needs: 'everybody', below: true, bare: true },
  '/integrations/lorawan/:network': { methods: ['POST'], needs: ['RECORD'], below: true },
  '/integrations/particle': { methods: ['POST'], needs: ['RECORD'], below: true },
  ...LINE_PATHS,
  '/graphql': { methods: ['GET', 'POST'], needs: 'everybody' },
  '/console/session': { methods: ['POST', 'DELETE'], needs: 'everybody' },
  // What maps lie on, fetched by the server; also for public dashboards.
  '/console/tiles': { methods: ['GET'], needs: ['READ'], below: true, cookie: true },
  '/console': { methods: ['GET', 'HEAD'], needs: 'everybody', below: true },
  '/': { methods: ['GET', 'HEAD'], needs: 'everybody' },
  // Numbers of the whole installation.
  '/metrics': { methods: ['GET'], needs: ['ADMIN'], whole: true },
  '/v1/openapi.json': { methods: ['GET', 'HEAD'], needs: 'everybody' },
  '/healthz': { methods: ['GET', 'HEAD'], needs: 'everybody' },
  '/readyz': { methods: ['GET', 'HEAD'], needs: 'everybody' },
} as const satisfies Readonly<Record<string, PathRight>>;
