import { askAhead } from './api/use-query.ts';
import type { Route } from './navigation/routes.ts';
import { Home } from './screens/home/home.graphql.ts';
import { HomeScreen } from './screens/home/home-screen.tsx';

/** Every screen of the console. The overview comes with the page; the code of others is loaded on demand. */
export const ROUTES: readonly Route[] = [
  {
    path: '/',
    section: 'home',
    ahead: (workspaceId) => askAhead(Home, { workspaceId }),
    load: () => HomeScreen,
  },
  {
    path: '/start',
    section: null,
    load: () => import('./screens/start/start-screen.tsx').then((code) => code.StartScreen),
  },
  {
    path: '/devices',
    section: 'devices',
    load: () => import('./screens/devices/devices-screen.tsx').then((code) => code.DevicesScreen),
  },
  {
    path: '/devices/:id',
    section: 'devices',
    load: () => import('./screens/device/device-screen.tsx').then((code) => code.DeviceScreen),
  },
  {
    path: '/unknown',
    section: 'devices',
    load: () => import('./screens/unknown/unknown-screen.tsx').then((code) => code.UnknownScreen),
  },
  {
    path: '/alerts',
    section: 'alerts',
    load: () => import('./screens/alerts/alerts-screen.tsx').then((code) => code.AlertsScreen),
  },
  {
    path: '/endpoints',
    section: 'alerts',
    load: () => import('./screens/endpoints/endpoints-screen.tsx').then((code) => code.EndpointsScreen),
  },
  {
    path: '/endpoints/:id',
    section: 'alerts',
    load: () => import('./screens/endpoints/endpoint-screen.tsx').then((code) => code.EndpointScreen),
  },
  {
    path: '/dashboards',
    section: 'dashboards',
    load: () => import('./screens/dashboards/dashboards-screen.tsx').then((code) => code.DashboardsScreen),
  },
  {
    path: '/dashboards/:id',
    section: 'dashboards',
    load: () => import('./screens/dashboards/dashboard-screen.tsx').then((code) => code.DashboardScreen),
  },
  {
    path: '/access',
    section: 'access',
    load: () => import('./screens/access/access-screen.tsx').then((code) => code.AccessScreen),
  },
  {
    path: '/audit',
    section: 'access',
    load: () => import('./screens/audit/audit-screen.tsx').then((code) => code.AuditScreen),
  },
  {
    path: '/users',
    section: 'access',
    load: () => import('./screens/users/users-screen.tsx').then((code) => code.UsersScreen),
  },
  {
    path: '/server',
    section: 'access',
    load: () => import('./screens/server/server-screen.tsx').then((code) => code.ServerScreen),
  },
  {
    path: '/sign-in',
    section: null,
    load: () => import('./screens/sign-in/way-back-screen.tsx').then((code) => code.WayBackScreen),
  },
  {
    path: '/products/:id/decoder',
    section: 'products',
    load: () => import('./screens/decoder/decoder-screen.tsx').then((code) => code.DecoderScreen),
  },
  {
    path: '/import',
    section: 'devices',
    load: () => import('./screens/import/import-screen.tsx').then((code) => code.ImportScreen),
  },
  {
    path: '/products/:id/calls',
    section: 'products',
    load: () => import('./screens/calls/calls-screen.tsx').then((code) => code.CallsScreen),
  },
  {
    path: '/products/:id/rules/:rule',
    section: 'products',
    load: () => import('./screens/rule/rule-screen.tsx').then((code) => code.RuleScreen),
  },
  {
    path: '/products',
    section: 'products',
    load: () => import('./screens/products/products-screen.tsx').then((code) => code.ProductsScreen),
  },
  {
    path: '/products/:id',
    section: 'products',
    load: () => import('./screens/product/product-screen.tsx').then((code) => code.ProductScreen),
  },
];
