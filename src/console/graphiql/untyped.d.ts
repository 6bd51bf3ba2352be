// Declare the few parts used here: React exists for GraphiQL alone.
declare module 'react' {
  export function createElement(kind: unknown, properties?: object | null, ...children: unknown[]): unknown;
}
declare module 'react-dom/client' {
  export function createRoot(host: Element): { render(element: unknown): void };
}
declare module 'graphiql' {
  export const GraphiQL: { Logo: unknown };
}
