import { DecoderExampleSchema } from '../domain/decoders/decoder-example.ts';
import { DecoderVersionSchema } from '../domain/decoders/decoder-version.ts';
import { DeviceSchema } from '../domain/devices/device.ts';
import { FieldSchema } from '../domain/fields/field.ts';
import { SuggestedFieldSchema } from '../domain/fields/suggested-field.ts';
import { ProductSchema } from '../domain/products/product.ts';
import { TokenSchema } from '../domain/tokens/token.ts';
import { UserSchema } from '../domain/users/user.ts';
import { MemberSchema } from '../domain/workspaces/member.ts';
import { WorkspaceSchema } from '../domain/workspaces/workspace.ts';

/** Everything MikroORM keeps; measurements, the inbox and the call log are the measurement store's own tables. */
export const ENTITIES = [
  WorkspaceSchema,
  UserSchema,
  MemberSchema,
  TokenSchema,
  ProductSchema,
  FieldSchema,
  SuggestedFieldSchema,
  DeviceSchema,
  DecoderVersionSchema,
  DecoderExampleSchema,
];
