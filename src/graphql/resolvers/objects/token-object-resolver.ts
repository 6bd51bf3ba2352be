import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { DeviceList } from '../../../domain/devices/device-list.ts';
import type { Token, TokenScope } from '../../../domain/entities/token.ts';
import { EventLoopQueue } from '../../../scheduling/event-loop-queue.ts';
import { LANES } from '../../../scheduling/lanes.ts';
import type { TokenLimits } from '../../../domain/accounts/token-limits.ts';
import type { TokenService } from '../../../domain/accounts/token-service.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import type { Promised } from '../../context/promised.ts';
import { bytesOfListed, deviceOf, knowDevices } from '../../paging/devices.ts';
import { DeviceObject } from '../../types/device.ts';
import { TokenScopeEnum } from '../../types/enums.ts';
import { ProductObject } from '../../types/product.ts';
import { TokenObject } from '../../types/token.ts';

/** Estimated bytes of a product in memory, as an entity. */
const PRODUCT_BYTES = 4_000;

/** Fields of a token that are looked up. */
@Resolver(() => TokenObject)
export class TokenObjectResolver {
  readonly #tokens: TokenService;
  readonly #devices: DeviceList;
  readonly #turns = new EventLoopQueue(LANES.tokenDevices);

  constructor(tokens: TokenService, devices: DeviceList) {
    this.#tokens = tokens;
    this.#devices = devices;
  }

  @FieldResolver(() => [TokenScopeEnum], { description: 'PERSONAL: what its user may do in one workspace or another.' })
  scopes(@Root() token: Token, @Ctx() { loaders }: GraphqlContext): Promised<TokenScope[]> {
    return token.user == null ? token.scopes : loaders.personalScopes.load(token.user.id);
  }

  @FieldResolver(() => [ProductObject], { nullable: true, description: 'null: not limited to products.' })
  async products(@Root() token: Token, @Ctx() context: GraphqlContext): Promise<ProductObject[] | null> {
    const { access, budget } = context;
    const { productIds } = await limitsOf(token, context);
    if (productIds == null || token.workspace == null) return null;
    const { workspace } = token;
    const read = () => this.#tokens.productsOf(access, { workspace, productIds });
    return budget.load(
      () => this.#turns.run(read),
      (found) => (found?.length ?? 0) * PRODUCT_BYTES,
    );
  }

  @FieldResolver(() => [DeviceObject], { nullable: true, description: 'null: not limited to devices.' })
  async devices(@Root() token: Token, @Ctx() context: GraphqlContext): Promise<DeviceObject[] | null> {
    const { access, asker, budget, loaders } = context;
    const { deviceIds } = await limitsOf(token, context);
    if (deviceIds == null || token.workspace == null) return null;
    const all = { orderBy: 'CREATED', descending: false, limit: deviceIds.length } as const;
    const choice = { ...all, workspaceId: token.workspace.id, ids: deviceIds };
    const page = await budget.load(() => this.#devices.page(access, choice, asker), bytesOfListed);
    knowDevices(loaders, page.items);
    return page.items.map(deviceOf);
  }

  @FieldResolver(() => [String], {
    nullable: true,
    description: 'The identifiers of the fields that it is limited to; null: not limited that way.',
  })
  async fields(@Root() token: Token, @Ctx() context: GraphqlContext): Promise<string[] | null> {
    return (await limitsOf(token, context)).fields ?? null;
  }
}

/** Limits of a token: they come with one that was found alone, and not with those of a list. */
async function limitsOf(token: Token, { loaders }: GraphqlContext): Promise<TokenLimits> {
  if (token.productIds !== undefined) return token;
  return (await loaders.tokenLimits.load(token.id)) ?? { productIds: [], deviceIds: [], fields: [] };
}
