// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../../api/operation.ts';
import type { ConfigurationFieldInput, ConfigurationType, DeviceType, FieldMeaning, FieldRole, FieldType, UpdateConfigurationFieldInput, UpdateProductInput, WriteRateSource } from '../../api/schema-types.ts';

/** The selection of the fragment `ProductField` of product.graphql. */
export type ProductField = { id: string; identifier: string; name: string | null; unit: string | null; type: FieldType; role: FieldRole | null; meaning: FieldMeaning; overflowAt: number | null; display: unknown; description: string | null };

/** The selection of the fragment `ProductConfiguration` of product.graphql. */
export type ProductConfiguration = { id: string; identifier: string; name: string | null; type: ConfigurationType; default: unknown; description: string | null };

/** The query `ProductPage` of product.graphql. */
export const ProductPage: Operation<{ product: { id: string; authorKey: string | null; name: string; deviceType: DeviceType; offlineAfterSeconds: number | null; ignoreZeroPlaces: boolean; timeZone: string | null; writeRate: { perSecond: number | null; source: WriteRateSource }; dashboard: unknown; webhookUrl?: string | undefined; configurationFields: ({ id: string; identifier: string; name: string | null; type: ConfigurationType; default: unknown; description: string | null })[]; fields: ({ id: string; identifier: string; name: string | null; unit: string | null; type: FieldType; role: FieldRole | null; meaning: FieldMeaning; overflowAt: number | null; display: unknown; description: string | null })[]; suggestedFields: ({ identifier: string; name: string | null; unit: string | null; type: FieldType; seen: number; lastValue: unknown; lastSeenAt: string })[]; devices: { totalCount: number; edges: ({ node: { id: string; name: string } })[] } } }, { id: string; mayConfigure: boolean }> = { text: "query ProductPage($id:ID!$mayConfigure:Boolean!){product(id:$id){id authorKey:key name deviceType offlineAfterSeconds ignoreZeroPlaces timeZone writeRate{perSecond source}dashboard webhookUrl@include(if:$mayConfigure)configurationFields{...ProductConfiguration}fields{...ProductField}suggestedFields{identifier name unit type seen lastValue lastSeenAt}devices(first:100){totalCount edges{node{id name}}}}}fragment ProductConfiguration on ConfigurationField{id identifier name type default description}fragment ProductField on Field{id identifier name unit type role meaning overflowAt display description}" };

/** The mutation `RotateWebhook` of product.graphql. */
export const RotateWebhook: Operation<{ rotateWebhook: { webhookUrl: string } }, { productId: string }> = { text: "mutation RotateWebhook($productId:ID!){rotateWebhook(productId:$productId){webhookUrl}}" };

/** The query `UseOfField` of product.graphql. */
export const UseOfField: Operation<{ product: { dashboard: unknown; decoder: { source: string } | null } }, { id: string }> = { text: "query UseOfField($id:ID!){product(id:$id){dashboard decoder{source}}}" };

/** The mutation `CountValuesOfField` of product.graphql. */
export const CountValuesOfField: Operation<{ updateField: { misfits: { values: number; devices: number; ofDevices: number } } }, { id: string }> = { text: "mutation CountValuesOfField($id:ID!){updateField(id:$id input:{}dryRun:true){misfits{values devices ofDevices}}}" };

/** The mutation `RemoveField` of product.graphql. */
export const RemoveField: Operation<{ removeField: string }, { id: string }> = { text: "mutation RemoveField($id:ID!){removeField(id:$id)}" };

/** The mutation `IgnoreSuggestion` of product.graphql. */
export const IgnoreSuggestion: Operation<{ ignoreSuggestedField: { id: string } }, { productId: string; identifier: string }> = { text: "mutation IgnoreSuggestion($productId:ID!$identifier:String!){ignoreSuggestedField(productId:$productId identifier:$identifier){id}}" };

/** The mutation `UpdateProduct` of product.graphql. */
export const UpdateProduct: Operation<{ updateProduct: { id: string } }, { id: string; input: UpdateProductInput }> = { text: "mutation UpdateProduct($id:ID!$input:UpdateProductInput!){updateProduct(id:$id input:$input){id}}" };

/** The mutation `SetWriteRate` of product.graphql. */
export const SetWriteRate: Operation<{ setWriteRate: boolean }, { productId: string; perSecond?: number | null | undefined; reset?: boolean | null | undefined }> = { text: "mutation SetWriteRate($productId:ID!$perSecond:Float$reset:Boolean){setWriteRate(productId:$productId perSecond:$perSecond reset:$reset)}" };

/** The mutation `CloneProduct` of product.graphql. */
export const CloneProduct: Operation<{ cloneProduct: { id: string } }, { id: string; name: string }> = { text: "mutation CloneProduct($id:ID!$name:String!){cloneProduct(id:$id name:$name){id}}" };

/** The query `DevicesOfProduct` of product.graphql. */
export const DevicesOfProduct: Operation<{ product: { devices: { totalCount: number; edges: ({ node: { id: string } })[] } } }, { id: string; first: number }> = { text: "query DevicesOfProduct($id:ID!$first:Int!){product(id:$id){devices(first:$first){totalCount edges{node{id}}}}}" };

/** The mutation `DeleteProduct` of product.graphql. */
export const DeleteProduct: Operation<{ deleteProduct: string }, { id: string }> = { text: "mutation DeleteProduct($id:ID!){deleteProduct(id:$id)}" };

/** The mutation `AddConfiguration` of product.graphql. */
export const AddConfiguration: Operation<{ addConfigurationField: { id: string } }, { productId: string; input: ConfigurationFieldInput }> = { text: "mutation AddConfiguration($productId:ID!$input:ConfigurationFieldInput!){addConfigurationField(productId:$productId input:$input){id}}" };

/** The mutation `UpdateConfiguration` of product.graphql. */
export const UpdateConfiguration: Operation<{ updateConfigurationField: { id: string } }, { id: string; input: UpdateConfigurationFieldInput }> = { text: "mutation UpdateConfiguration($id:ID!$input:UpdateConfigurationFieldInput!){updateConfigurationField(id:$id input:$input){id}}" };

/** The mutation `RemoveConfiguration` of product.graphql. */
export const RemoveConfiguration: Operation<{ removeConfigurationField: string }, { id: string }> = { text: "mutation RemoveConfiguration($id:ID!){removeConfigurationField(id:$id)}" };
