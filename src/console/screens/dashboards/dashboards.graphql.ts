// Written by build/console-operations.ts. Do not edit.
import type { Operation } from '../../api/operation.ts';
import type { CreateTokenInput } from '../../api/schema-types.ts';

/** The query `Dashboards` of dashboards.graphql. */
export const Dashboards: Operation<{ workspace: { dashboards: ({ id: string; name: string; createdAt: string })[] } }, { workspaceId: string }> = { text: "query Dashboards($workspaceId:ID!){workspace(id:$workspaceId){dashboards{id name createdAt}}}" };

/** The query `OneDashboard` of dashboards.graphql. */
export const OneDashboard: Operation<{ dashboard: { id: string; name: string; widgets: unknown } }, { id: string }> = { text: "query OneDashboard($id:ID!){dashboard(id:$id){id name widgets}}" };

/** The query `DashboardNames` of dashboards.graphql. */
export const DashboardNames: Operation<{ workspace: { dashboards: ({ id: string; name: string })[] } }, { workspaceId: string }> = { text: "query DashboardNames($workspaceId:ID!){workspace(id:$workspaceId){dashboards{id name}}}" };

/** The mutation `SaveDashboard` of dashboards.graphql. */
export const SaveDashboard: Operation<{ saveDashboard: { id: string } }, { id?: string | null | undefined; workspaceId?: string | null | undefined; name: string; widgets: unknown }> = { text: "mutation SaveDashboard($id:ID$workspaceId:ID$name:String!$widgets:JSON!){saveDashboard(id:$id workspaceId:$workspaceId name:$name widgets:$widgets){id}}" };

/** The mutation `DeleteDashboard` of dashboards.graphql. */
export const DeleteDashboard: Operation<{ deleteDashboard: string }, { id: string }> = { text: "mutation DeleteDashboard($id:ID!){deleteDashboard(id:$id)}" };

/** The mutation `MakeDashboardLink` of dashboards.graphql. */
export const MakeDashboardLink: Operation<{ createToken: { secret: string } }, { input: CreateTokenInput }> = { text: "mutation MakeDashboardLink($input:CreateTokenInput!){createToken(input:$input){secret}}" };

/** The query `SourceProducts` of dashboards.graphql. */
export const SourceProducts: Operation<{ products: { edges: ({ node: { id: string; name: string } })[] } }, { workspaceId?: string | null | undefined }> = { text: "query SourceProducts($workspaceId:ID){products(workspaceId:$workspaceId first:200){edges{node{id name}}}}" };

/** The query `SourceSearch` of dashboards.graphql. */
export const SourceSearch: Operation<{ devices: { edges: ({ node: { id: string; name: string; serialNumber: string } })[] } }, { workspaceId?: string | null | undefined; search?: string | null | undefined }> = { text: "query SourceSearch($workspaceId:ID$search:String){devices(workspaceId:$workspaceId search:$search first:20 orderBy:NAME){edges{node{id name serialNumber}}}}" };
