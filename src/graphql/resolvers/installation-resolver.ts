import { Ctx, Query, Resolver } from 'type-graphql';
import type { Installation, LookAtInstallation } from '../../domain/ports/installation.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { InstallationObject } from '../types/installation.ts';

/** The server as its operator sees it. */
@Resolver()
export class InstallationResolver {
  readonly #look: LookAtInstallation;

  constructor(look: LookAtInstallation) {
    this.#look = look;
  }

  @Query(() => InstallationObject, {
    complexity: 200,
    description: 'Nodes, workers, Redis, replicas and what waits; for operators.',
  })
  installation(@Ctx() { access }: GraphqlContext): Promise<Installation> {
    access.requireOperator();
    return this.#look();
  }
}
