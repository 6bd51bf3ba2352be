import 'reflect-metadata';
import { Field, Int, ObjectType } from 'type-graphql';

/** The shape every connection has; `Node` is the parent value of the node's type. */
export interface Connection<Node> {
  edges: { cursor: string; node: Node }[];
  pageInfo: PageInfo;
  /** The number of rows of all pages together. */
  count: () => Promise<number>;
}

@ObjectType({ simpleResolvers: true, description: 'Where a page ends and whether there are more.' })
class PageInfo {
  @Field(() => Boolean, { description: 'Whether there is at least one more item behind this page.' })
  hasNextPage!: boolean;

  @Field(() => String, {
    nullable: true,
    description: 'The cursor of the last item, for `after` of the next page; null when the page is empty.',
  })
  endCursor!: string | null;
}

/** The two object types `<name>Connection` and `<name>Edge`; the class returned is the connection. */
export function connectionOf<Node extends object>(
  name: string,
  node: () => new () => Node,
): new () => Connection<Node> {
  @ObjectType(`${name}Edge`, { simpleResolvers: true, description: 'One item of a page and its place in the list.' })
  class Edge {
    @Field(() => String, { description: 'The place of the item, for `after`; opaque.' })
    cursor!: string;

    @Field(node, { description: 'The item.' })
    node!: Node;
  }

  @ObjectType(`${name}Connection`, { simpleResolvers: true, description: 'One page of a list.' })
  class ConnectionObject {
    @Field(() => [Edge], { description: 'The items of this page, in order.' })
    edges!: Edge[];

    @Field(() => PageInfo, { description: 'Where the page ends and whether there are more.' })
    pageInfo!: PageInfo;

    count!: () => Promise<number>;

    @Field(() => Int, { description: 'Of all pages together; counted only when it is asked for.' })
    totalCount(): Promise<number> {
      return this.count();
    }
  }
  return ConnectionObject;
}
