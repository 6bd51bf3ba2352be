import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Token, TokenScope } from '../../../domain/entities/token.ts';
import type { TokenService } from '../../../domain/tokens/token-service.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import { DeviceObject } from '../../types/device.ts';
import { TokenScopeEnum } from '../../types/enums.ts';
import { ProductObject } from '../../types/product.ts';
import { TokenObject } from '../../types/token.ts';

/** A token's fields that are looked up. */
@Resolver(() => TokenObject)
export class TokenObjectResolver {
  readonly #tokens: TokenService;

  constructor(tokens: TokenService) {
    this.#tokens = tokens;
  }

  @FieldResolver(() => [TokenScopeEnum], { description: 'PERSONAL: what its user may do in one workspace or another.' })
  scopes(@Root() token: Token): Promise<TokenScope[]> {
    return this.#tokens.scopesOf(token);
  }

  @FieldResolver(() => [ProductObject], { nullable: true, description: 'null: not limited to products.' })
  products(@Root() token: Token, @Ctx() { access }: GraphqlContext): Promise<ProductObject[] | null> {
    return this.#tokens.productsOf(access, token);
  }

  @FieldResolver(() => [DeviceObject], { nullable: true, description: 'null: not limited to devices.' })
  devices(@Root() token: Token, @Ctx() { access }: GraphqlContext): Promise<DeviceObject[] | null> {
    return this.#tokens.devicesOf(access, token);
  }
}
