import type { DataOf } from '../../api/operation.ts';
import type { ProductPage } from './product.graphql.ts';

/** A product as its page shows it. */
export type ShownProduct = DataOf<typeof ProductPage>['product'];
