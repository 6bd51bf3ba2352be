import { DecoderResolver } from './decoder-resolver.ts';
import { DeviceResolver } from './device-resolver.ts';
import { FieldResolver } from './field-resolver.ts';
import { LiveResolver } from './live-resolver.ts';
import { MeasurementsResolver } from './measurements-resolver.ts';
import { DecoderVersionResolver } from './objects/decoder-version-resolver.ts';
import { DeviceObjectResolver } from './objects/device-object-resolver.ts';
import { DeviceValuesResolver } from './objects/device-values-resolver.ts';
import { EntryOutcomeResolver } from './objects/entry-outcome-resolver.ts';
import { FieldObjectResolver } from './objects/field-object-resolver.ts';
import { ProductCallsResolver } from './objects/product-calls-resolver.ts';
import { ProductDecoderResolver } from './objects/product-decoder-resolver.ts';
import { ProductObjectResolver } from './objects/product-object-resolver.ts';
import { TokenObjectResolver } from './objects/token-object-resolver.ts';
import { WorkspaceObjectResolver } from './objects/workspace-object-resolver.ts';
import { PlanResolver } from './plan-resolver.ts';
import { ProductResolver } from './product-resolver.ts';
import { ReplayResolver } from './replay-resolver.ts';
import { TokenResolver } from './token-resolver.ts';
import { UserResolver } from './user-resolver.ts';
import { ViewerResolver } from './viewer-resolver.ts';
import { WorkspaceResolver } from './workspace-resolver.ts';

/** Every resolver class of the schema. `app.ts` makes one instance of each; the schema file is printed from them. */
export const RESOLVERS = [
  ViewerResolver,
  WorkspaceResolver,
  WorkspaceObjectResolver,
  UserResolver,
  TokenResolver,
  TokenObjectResolver,
  PlanResolver,
  ProductResolver,
  ProductObjectResolver,
  ProductCallsResolver,
  ProductDecoderResolver,
  DecoderResolver,
  DecoderVersionResolver,
  ReplayResolver,
  FieldResolver,
  FieldObjectResolver,
  DeviceResolver,
  DeviceObjectResolver,
  DeviceValuesResolver,
  MeasurementsResolver,
  EntryOutcomeResolver,
  LiveResolver,
] as const;
