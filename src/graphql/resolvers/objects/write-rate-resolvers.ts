import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { WriteRateService } from '../../../domain/devices/write-rate-service.ts';
import type { Device } from '../../../domain/entities/device.ts';
import type { Product } from '../../../domain/entities/product.ts';
import type { Workspace } from '../../../domain/entities/workspace.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import { type Promised, whenKnown } from '../../context/promised.ts';
import { DeviceObject } from '../../types/device.ts';
import { ProductObject } from '../../types/product.ts';
import { WorkspaceObject } from '../../types/workspace.ts';
import { WriteRateObject } from '../../types/write-rate.ts';

/** The write limit that holds for a device (CONTRACT 3). */
@Resolver(() => DeviceObject)
export class DeviceWriteRateResolver {
  readonly #rates: WriteRateService;

  constructor(rates: WriteRateService) {
    this.#rates = rates;
  }

  @FieldResolver(() => WriteRateObject, { description: 'The write limit of the device on the record endpoint.' })
  writeRate(@Root() device: Device, @Ctx() { loaders }: GraphqlContext): Promised<WriteRateObject> {
    return whenKnown(loaders.product.load(device.product.key), (product) =>
      whenKnown(loaders.workspace.load(device.workspace.id), (workspace) =>
        this.#rates.effective(device, product, workspace),
      ),
    );
  }
}

/** The write limit that holds for devices of a product without one of their own. */
@Resolver(() => ProductObject)
export class ProductWriteRateResolver {
  readonly #rates: WriteRateService;

  constructor(rates: WriteRateService) {
    this.#rates = rates;
  }

  @FieldResolver(() => WriteRateObject, {
    description: 'The write limit of its devices on the record endpoint, where they have none of their own.',
  })
  writeRate(@Root() product: Product, @Ctx() { loaders }: GraphqlContext): Promised<WriteRateObject> {
    return whenKnown(loaders.workspace.load(product.workspace.id), (workspace) =>
      this.#rates.effective(null, product, workspace),
    );
  }
}

/** The write limit that holds for devices of a workspace, where nothing nearer is set. */
@Resolver(() => WorkspaceObject)
export class WorkspaceWriteRateResolver {
  readonly #rates: WriteRateService;

  constructor(rates: WriteRateService) {
    this.#rates = rates;
  }

  @FieldResolver(() => WriteRateObject, {
    description:
      'The write limit of its devices on the record endpoint, where neither they nor their product have one.',
  })
  writeRate(@Root() workspace: Workspace, @Ctx() { access }: GraphqlContext): WriteRateObject {
    access.requireUnlimited();
    return this.#rates.effective(null, null, workspace);
  }
}
