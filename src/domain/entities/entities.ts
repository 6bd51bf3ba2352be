import { AppliedObjectSchema } from './applied-object.ts';
import { AccessLinkSchema } from './access-link.ts';
import { AuditEntrySchema } from './audit-entry.ts';
import { ConfigurationFieldSchema } from './configuration-field.ts';
import { DashboardSchema } from './dashboard.ts';
import { DecoderExampleSchema } from './decoder-example.ts';
import { DecoderVersionSchema } from './decoder-version.ts';
import { DeviceSchema } from './device.ts';
import { DeviceViewSchema } from './device-view.ts';
import { DeviceNoteSchema } from './device-note.ts';
import { EndpointSchema } from './endpoint.ts';
import { FieldAliasSchema } from './field-alias.ts';
import { FieldSchema } from './field.ts';
import { SuggestedFieldSchema } from './suggested-field.ts';
import { ProductSchema } from './product.ts';
import { TokenSchema } from './token.ts';
import { UserSchema } from './user.ts';
import { InstallationSchema } from './installation.ts';
import { MemberSchema } from './member.ts';
import { UnknownCallSchema } from './unknown-call.ts';
import { UnknownDeviceSchema } from './unknown-device.ts';
import { ProductAnswerSchema } from './product-answer.ts';
import { AlertSchema } from './alert.ts';
import { AlertEventSchema } from './alert-event.ts';
import { RuleReaderSchema } from './rule-reader.ts';
import { RuleStateSchema } from './rule-state.ts';
import { RuleSchema } from './rule.ts';
import { RetentionGraceSchema } from './retention-grace.ts';
import { WorkspaceSchema } from './workspace.ts';

/** Everything that MikroORM maps; measurements, the inbox and the call log are the measurement store's own tables. */
export const ENTITIES = [
  WorkspaceSchema,
  UserSchema,
  MemberSchema,
  TokenSchema,
  AccessLinkSchema,
  ProductSchema,
  FieldSchema,
  FieldAliasSchema,
  ConfigurationFieldSchema,
  RuleSchema,
  RuleStateSchema,
  RuleReaderSchema,
  AlertSchema,
  AlertEventSchema,
  SuggestedFieldSchema,
  DeviceSchema,
  DeviceViewSchema,
  RetentionGraceSchema,
  DeviceNoteSchema,
  ProductAnswerSchema,
  DecoderVersionSchema,
  DecoderExampleSchema,
  UnknownDeviceSchema,
  UnknownCallSchema,
  InstallationSchema,
  AuditEntrySchema,
  AppliedObjectSchema,
  EndpointSchema,
  DashboardSchema,
];
