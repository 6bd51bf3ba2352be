import 'reflect-metadata';
import { Field, Int, ObjectType } from 'type-graphql';

/** The shape every connection has; `Node` is the parent value of the node's type. */
export interface Connection<Node> {
  edges: { cursor: string; node: Node }[];
  pageInfo: PageInfo;
  /** How many rows all pages together hold. */
  count: () => Promise<number>;
}

@ObjectType({ simpleResolvers: true })
export class PageInfo {
  @Field(() => Boolean)
  hasNextPage!: boolean;

  @Field(() => String, { nullable: true })
  endCursor!: string | null;
}

/** The two object types `<name>Connection` and `<name>Edge`; the class returned is the connection. */
export function connectionOf<Node extends object>(
  name: string,
  node: () => new () => Node,
): new () => Connection<Node> {
  @ObjectType(`${name}Edge`, { simpleResolvers: true })
  class Edge {
    @Field(() => String)
    cursor!: string;

    @Field(node)
    node!: Node;
  }

  @ObjectType(`${name}Connection`, { simpleResolvers: true })
  class ConnectionObject {
    @Field(() => [Edge])
    edges!: Edge[];

    @Field(() => PageInfo)
    pageInfo!: PageInfo;

    count!: () => Promise<number>;

    @Field(() => Int, { description: 'Of all pages together; counted only when it is asked for.' })
    totalCount(): Promise<number> {
      return this.count();
    }
  }
  return ConnectionObject;
}
