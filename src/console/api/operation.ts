/** A checked operation of the GraphQL API: what is sent, and, for the compiler only, what comes back and what goes in. */
export interface Operation<Data, Variables> {
  readonly text: string;
  readonly data?: Data;
  readonly variables?: Variables;
}

/** What an operation answers. */
export type DataOf<Kind> = Kind extends Operation<infer Data, unknown> ? Data : never;
