// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../../api/operation.ts';
import type { DeviceType, FieldRole, FieldType, UpdateFieldInput, UpdateProductInput } from '../../api/schema-types.ts';

/** What the fragment `ProductField` of product.graphql selects. */
export type ProductField = { id: string; identifier: string; name: string | null; unit: string | null; type: FieldType; role: FieldRole | null; description: string | null };

/** The query `ProductPage` of product.graphql. */
export const ProductPage: Operation<{ product: { id: string; deviceType: DeviceType; dashboard: unknown; fields: ({ id: string; identifier: string; name: string | null; unit: string | null; type: FieldType; role: FieldRole | null; description: string | null })[]; suggestedFields: ({ identifier: string; name: string | null; unit: string | null; type: FieldType; seen: number; lastValue: unknown; lastSeenAt: string })[]; devices: { edges: ({ node: { id: string; name: string } })[] } } }, { id: string }> = { text: "query ProductPage($id:ID!){product(id:$id){id deviceType dashboard fields{...ProductField}suggestedFields{identifier name unit type seen lastValue lastSeenAt}devices(first:100){edges{node{id name}}}}}fragment ProductField on Field{id identifier name unit type role description}" };

/** The query `Webhook` of product.graphql. */
export const Webhook: Operation<{ product: { webhookUrl: string } }, { id: string }> = { text: "query Webhook($id:ID!){product(id:$id){webhookUrl}}" };

/** The mutation `RotateWebhook` of product.graphql. */
export const RotateWebhook: Operation<{ rotateWebhook: { webhookUrl: string } }, { productId: string }> = { text: "mutation RotateWebhook($productId:ID!){rotateWebhook(productId:$productId){webhookUrl}}" };

/** The mutation `UpdateField` of product.graphql. */
export const UpdateField: Operation<{ updateField: { id: string } }, { id: string; input: UpdateFieldInput }> = { text: "mutation UpdateField($id:ID!$input:UpdateFieldInput!){updateField(id:$id input:$input){id}}" };

/** The mutation `RemoveField` of product.graphql. */
export const RemoveField: Operation<{ removeField: string }, { id: string }> = { text: "mutation RemoveField($id:ID!){removeField(id:$id)}" };

/** The mutation `IgnoreSuggestion` of product.graphql. */
export const IgnoreSuggestion: Operation<{ ignoreSuggestedField: { id: string } }, { productId: string; identifier: string }> = { text: "mutation IgnoreSuggestion($productId:ID!$identifier:String!){ignoreSuggestedField(productId:$productId identifier:$identifier){id}}" };

/** The mutation `UpdateProduct` of product.graphql. */
export const UpdateProduct: Operation<{ updateProduct: { id: string } }, { id: string; input: UpdateProductInput }> = { text: "mutation UpdateProduct($id:ID!$input:UpdateProductInput!){updateProduct(id:$id input:$input){id}}" };
