// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../api/operation.ts';
import type { FieldInput, UpdateFieldInput } from '../api/schema-types.ts';

/** The mutation `AddField` of fields.graphql. */
export const AddField: Operation<{ addField: { id: string } }, { productId: string; input: FieldInput }> = { text: "mutation AddField($productId:ID!$input:FieldInput!){addField(productId:$productId input:$input){id}}" };

/** The mutation `RenameField` of fields.graphql. */
export const RenameField: Operation<{ renameField: { id: string } }, { id: string; identifier: string }> = { text: "mutation RenameField($id:ID!$identifier:String!){renameField(id:$id identifier:$identifier){id}}" };

/** The mutation `UpdateField` of fields.graphql. */
export const UpdateField: Operation<{ updateField: { id: string } }, { id: string; input: UpdateFieldInput }> = { text: "mutation UpdateField($id:ID!$input:UpdateFieldInput!){updateField(id:$id input:$input){id}}" };

/** The mutation `TryTypeOfField` of fields.graphql. */
export const TryTypeOfField: Operation<{ updateField: { misfits: { misfits: number; values: number; devices: number; ofDevices: number } } }, { id: string; input: UpdateFieldInput }> = { text: "mutation TryTypeOfField($id:ID!$input:UpdateFieldInput!){updateField(id:$id input:$input dryRun:true){misfits{misfits values devices ofDevices}}}" };
