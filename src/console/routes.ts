import type { Route } from './navigation/routes.ts';

/** Every screen of the console; the code of each is got when somebody goes there. */
export const ROUTES: readonly Route[] = [
  { path: '/', section: null, load: () => import('./screens/home/home-screen.tsx').then((code) => code.HomeScreen) },
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
    path: '/access',
    section: 'access',
    load: () => import('./screens/access/access-screen.tsx').then((code) => code.AccessScreen),
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
    path: '/products/:id/calls',
    section: 'products',
    load: () => import('./screens/calls/calls-screen.tsx').then((code) => code.CallsScreen),
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
