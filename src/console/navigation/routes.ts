import type { ComponentType } from 'preact';

/** What every screen is given: the named parts of its address. */
export interface ScreenProps {
  params: Readonly<Record<string, string>>;
}

/** A part of the console in the main navigation. */
export type Section = 'devices' | 'products' | 'access' | 'graphql';

/** A screen: where it is, to which part it belongs, and its code: there, or got when it is needed. */
export interface Route {
  /** Such as `/devices/:id`. */
  path: string;
  section: Section | null;
  /** Asks for what the screen is about to ask for, while it is not known yet who is signed in. */
  ahead?: (workspaceId: string, query: URLSearchParams) => void;
  load: () => ComponentType<ScreenProps> | Promise<ComponentType<ScreenProps>>;
}

/** The route that an address leads to, with the named parts of it; null: there is none. */
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
