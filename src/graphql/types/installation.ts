import 'reflect-metadata';
import { Field, Float, Int, ObjectType } from 'type-graphql';

/** Parent: plain. */
@ObjectType('Replica', {
  simpleResolvers: true,
  description: 'A replica of the database that answers reads of history.',
})
class ReplicaObject {
  @Field(() => String, { description: 'Its host and port.' })
  name!: string;

  @Field(() => Boolean, { description: 'false: it is away, or no replica of the database; the log says why.' })
  used!: boolean;

  @Field(() => Float, {
    nullable: true,
    description: 'Log of the database that it has not replayed yet; null: unknown.',
  })
  lagBytes!: number | null;

  @Field(() => Float, { nullable: true, description: 'How long it is behind; null: unknown.' })
  lagSeconds!: number | null;
}

/** Parent: plain. */
@ObjectType('LaneDepth', { simpleResolvers: true, description: 'What waits in a lane (docs/operating.md).' })
class LaneDepthObject {
  @Field(() => String, { description: 'Its name.' })
  name!: string;

  @Field(() => Int, { description: 'How much waits now.' })
  waiting!: number;

  @Field(() => Float, { description: 'How much was refused since the start.' })
  refused!: number;
}

/** Parent: the domain's Installation. */
@ObjectType('Installation', {
  simpleResolvers: true,
  description:
    'How the server is, as the node sees it that is asked: what waits is its own unless all nodes are named.',
})
export class InstallationObject {
  @Field(() => String, { description: 'The version that runs.' })
  version!: string;

  @Field(() => String, { description: '`sqlite` or `postgres`.' })
  database!: string;

  @Field(() => Int, { description: 'How many nodes share the database, this one included; each worker is one.' })
  nodes!: number;

  @Field(() => Int, { description: 'WORKERS: server processes of this machine.' })
  workers!: number;

  @Field(() => Int, { description: 'How many of them take requests.' })
  workersUp!: number;

  @Field(() => Boolean, { nullable: true, description: 'false: other nodes cannot be heard; null: there is no Redis.' })
  redisConnected!: boolean | null;

  @Field(() => [ReplicaObject], { description: 'Those of DATABASE_REPLICA_URLS.' })
  replicas!: ReplicaObject[];

  @Field(() => Int, { description: 'Values that wait for their commit.' })
  valuesWaiting!: number;

  @Field(() => Int, { description: 'Calls that wait for a decoder process.' })
  decoderCallsWaiting!: number;

  @Field(() => Int, { description: 'Deliveries that wait for endpoints, on all nodes.' })
  deliveriesWaiting!: number;

  @Field(() => [LaneDepthObject], { description: 'Every lane.' })
  lanes!: LaneDepthObject[];
}
