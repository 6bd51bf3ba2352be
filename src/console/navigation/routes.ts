import type { ComponentType } from 'preact';

/** The properties of every screen: the named parts of its address. */
export interface ScreenProps {
  params: Readonly<Record<string, string>>;
}

/** A part of the console in the main navigation. */
export type Section = 'home' | 'devices' | 'products' | 'dashboards' | 'alerts' | 'access' | 'graphql';

/** A screen: its path, its part of the console, and its code, present or loaded when needed. */
export interface Route {
  /** A pattern such as `/devices/:id`. */
  path: string;
  section: Section | null;
  /** Requests the screen's data in advance, before the session is known. */
  ahead?: (workspaceId: string, query: URLSearchParams) => void;
  load: () => ComponentType<ScreenProps> | Promise<ComponentType<ScreenProps>>;
}

/** The route of an address, with its named parts; null: none. */
export function routeOf(
  routes: readonly Route[],
  path: string,
): { route: Route; params: Record<string, string> } | null {
  for (const route of routes) {
    const params = match(route.path, path);
    if (params !== null) return { route, params };
  }
  return null;
}

function match(pattern: string, path: string): Record<string, string> | null {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? '';
    if (part.startsWith(':')) params[part.slice(1)] = decodeURIComponent(value);
    else if (part !== value) return null;
  }
  return params;
}
