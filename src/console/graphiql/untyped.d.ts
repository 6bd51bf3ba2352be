// React is there for GraphiQL alone, and this page needs next to nothing of either.
declare module 'react' {
  export function createElement(kind: unknown, properties?: object | null, ...children: unknown[]): unknown;
}
declare module 'react-dom/client' {
  export function createRoot(host: Element): { render(element: unknown): void };
}
declare module 'graphiql' {
  export const GraphiQL: { Logo: unknown };
}
