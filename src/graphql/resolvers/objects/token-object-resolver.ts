import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { DeviceList } from '../../../domain/devices/device-list.ts';
import type { Token, TokenScope } from '../../../domain/entities/token.ts';
import { LoopTurns } from '../../../domain/loop-turns.ts';
import type { TokenService } from '../../../domain/tokens/token-service.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import type { Promised } from '../../context/promised.ts';
import { bytesOfListed, deviceOf, knowDevices } from '../../paging/devices.ts';
import { DeviceObject } from '../../types/device.ts';
import { TokenScopeEnum } from '../../types/enums.ts';
import { ProductObject } from '../../types/product.ts';
import { TokenObject } from '../../types/token.ts';

/** A workspace may have thousands of tokens, and each be asked for its products. */
const GIVES_WAY_AFTER_MS = 5;

/** A token's fields that are looked up. */
@Resolver(() => TokenObject)
export class TokenObjectResolver {
  readonly #tokens: TokenService;
  readonly #devices: DeviceList;
  readonly #turns = new LoopTurns(GIVES_WAY_AFTER_MS);

  constructor(tokens: TokenService, devices: DeviceList) {
    this.#tokens = tokens;
    this.#devices = devices;
  }

  @FieldResolver(() => [TokenScopeEnum], { description: 'PERSONAL: what its user may do in one workspace or another.' })
  scopes(@Root() token: Token, @Ctx() { loaders }: GraphqlContext): Promised<TokenScope[]> {
    return token.user == null ? token.scopes : loaders.personalScopes.load(token.user.id);
  }

  @FieldResolver(() => [ProductObject], { nullable: true, description: 'null: not limited to products.' })
  products(@Root() token: Token, @Ctx() { access }: GraphqlContext): Promised<ProductObject[] | null> {
    return token.productIds == null ? null : this.#turns.run(() => this.#tokens.productsOf(access, token));
  }

  @FieldResolver(() => [DeviceObject], { nullable: true, description: 'null: not limited to devices.' })
  async devices(@Root() token: Token, @Ctx() context: GraphqlContext): Promise<DeviceObject[] | null> {
    const { access, asker, budget, loaders } = context;
    if (token.deviceIds == null || token.workspace == null) return null;
    const all = { orderBy: 'CREATED', descending: false, limit: token.deviceIds.length } as const;
    const choice = { ...all, workspaceId: token.workspace.id, ids: token.deviceIds };
    const page = await budget.load(() => this.#devices.page(access, choice, asker), bytesOfListed);
    knowDevices(loaders, page.items);
    return page.items.map(deviceOf);
  }
}
