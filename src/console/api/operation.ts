/** A checked operation of the GraphQL API: its text and, for the compiler only, the types of its data and variables. */
export interface Operation<Data, Variables> {
  readonly text: string;
  readonly data?: Data;
  readonly variables?: Variables;
}

/** The data of an operation. */
export type DataOf<Kind> = Kind extends Operation<infer Data, unknown> ? Data : never;
