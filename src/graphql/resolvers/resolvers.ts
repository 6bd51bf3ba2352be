import type { CallLog } from '../../domain/calls/call-log.ts';
import type { CallSearch } from '../../domain/calls/call-search.ts';
import type { UnknownDevices } from '../../domain/receiving/unknown-devices.ts';
import type { Replay } from '../../domain/replay/replay.ts';
import type { AuditLog } from '../../domain/audit/audit-log.ts';
import type { Database } from '../../domain/ports/database.ts';
import type { DecoderExamples } from '../../domain/decoders/decoder-examples.ts';
import type { DecoderService } from '../../domain/decoders/decoder-service.ts';
import type { Deliveries } from '../../domain/outgoing/deliveries.ts';
import type { EndpointService } from '../../domain/outgoing/endpoint-service.ts';
import type { AccessLinks } from '../../domain/accounts/access-links.ts';
import type { BulkChanges } from '../../domain/devices/bulk-changes.ts';
import type { DeviceImporter } from '../../domain/transfer/device-importer.ts';
import type { DashboardService } from '../../domain/dashboards/dashboard-service.ts';
import type { DeviceClients } from '../../domain/devices/device-clients.ts';
import { DeviceViews } from '../../domain/devices/device-views.ts';
import type { DeviceList } from '../../domain/devices/device-list.ts';
import type { DeviceService } from '../../domain/devices/device-service.ts';
import type { WriteRateService } from '../../domain/devices/write-rate-service.ts';
import type { IngestCache } from '../../domain/ingest-cache/ingest-cache.ts';
import { DeviceChoice } from '../../domain/history/device-choice.ts';
import type { History } from '../../domain/history/history.ts';
import { Fleet } from '../../domain/fleet/fleet.ts';
import { FleetPlaces } from '../../domain/fleet/fleet-places.ts';
import type { ValueTally } from '../../domain/measurements/value-tally.ts';
import type { NoteService } from '../../domain/notes/note-service.ts';
import type { Plans } from '../../domain/plans/plans.ts';
import type { Recorder } from '../../domain/measurements/recorder.ts';
import type { LookAtInstallation } from '../../domain/ports/installation.ts';
import type { MeasurementStore } from '../../domain/ports/store.ts';
import { FieldMisfits } from '../../domain/products/field-misfits.ts';
import type { FieldService } from '../../domain/products/field-service.ts';
import type { ConfigurationApply } from '../../domain/configuration/configuration-apply.ts';
import type { ConfigurationExport } from '../../domain/configuration/configuration-export.ts';
import type { ConfigurationPlans } from '../../domain/configuration/configuration-plans.ts';
import type { ConfigurationService } from '../../domain/products/configuration-service.ts';
import type { ProductService } from '../../domain/products/product-service.ts';
import { RuleTrial } from '../../domain/rules/rule-trial.ts';
import type { AlertService } from '../../domain/alerts/alert-service.ts';
import type { RuleService } from '../../domain/rules/rule-service.ts';
import type { TokenService } from '../../domain/accounts/token-service.ts';
import type { UserService } from '../../domain/accounts/user-service.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import type { WorkspaceRemoval } from '../../domain/products/workspace-removal.ts';
import type { WorkspaceService } from '../../domain/accounts/workspace-service.ts';
import { AlertResolver } from './alert-resolver.ts';
import { AuditResolver } from './audit-resolver.ts';
import { ConfigurationDocumentResolver } from './configuration-document-resolver.ts';
import { ConfigurationResolver } from './configuration-resolver.ts';
import { DashboardResolver } from './dashboard-resolver.ts';
import { DecoderResolver } from './decoder-resolver.ts';
import { AccessLinkResolver } from './access-link-resolver.ts';
import { BulkResolver } from './bulk-resolver.ts';
import { DeviceImportResolver } from './device-import-resolver.ts';
import { DeviceResolver } from './device-resolver.ts';
import { DeviceViewResolver } from './device-view-resolver.ts';
import { EndpointResolver } from './endpoint-resolver.ts';
import { FieldResolver } from './field-resolver.ts';
import { HistoryResolver } from './history-resolver.ts';
import { InstallationResolver } from './installation-resolver.ts';
import { LiveResolver } from './live-resolver.ts';
import { MeasurementsResolver } from './measurements-resolver.ts';
import { DashboardObjectResolver } from './objects/dashboard-object-resolver.ts';
import { DecoderExampleResolver } from './objects/decoder-example-resolver.ts';
import { DecoderRunResolver } from './objects/decoder-run-resolver.ts';
import { DecoderVersionResolver } from './objects/decoder-version-resolver.ts';
import { DeviceObjectResolver } from './objects/device-object-resolver.ts';
import { DeviceValuesResolver } from './objects/device-values-resolver.ts';
import { DeliveryObjectResolver, EndpointObjectResolver } from './objects/endpoint-object-resolver.ts';
import { EntryOutcomeResolver } from './objects/entry-outcome-resolver.ts';
import { FieldObjectResolver } from './objects/field-object-resolver.ts';
import { FleetResolver, WorkspaceFleetResolver } from './objects/fleet-resolver.ts';
import { ProductCallsResolver } from './objects/product-calls-resolver.ts';
import { ProductDecoderResolver } from './objects/product-decoder-resolver.ts';
import { ProductObjectResolver } from './objects/product-object-resolver.ts';
import { SeriesResolver } from './objects/series-resolver.ts';
import { TokenObjectResolver } from './objects/token-object-resolver.ts';
import { AlertObjectResolver } from './objects/alert-object-resolver.ts';
import { RuleNotifyResolver, RuleObjectResolver } from './objects/rule-object-resolver.ts';
import { WebhookCallResolver } from './objects/webhook-call-resolver.ts';
import { WorkspaceObjectResolver } from './objects/workspace-object-resolver.ts';
import {
  DeviceWriteRateResolver,
  ProductWriteRateResolver,
  WorkspaceWriteRateResolver,
} from './objects/write-rate-resolvers.ts';
import { NoteResolver } from './note-resolver.ts';
import { PlanResolver } from './plan-resolver.ts';
import { ProductResolver } from './product-resolver.ts';
import { ReplayResolver } from './replay-resolver.ts';
import { RuleResolver } from './rule-resolver.ts';
import { TokenResolver } from './token-resolver.ts';
import { UnknownDeviceResolver } from './unknown-device-resolver.ts';
import { UserResolver } from './user-resolver.ts';
import { ViewerResolver } from './viewer-resolver.ts';
import { WorkspaceResolver } from './workspace-resolver.ts';

/** Dependencies of the resolvers: the domain's services, and sources that a few of them read themselves. */
export interface ResolverDeps {
  database: Database;
  auditLog: AuditLog;
  store: MeasurementStore;
  ingestCache: IngestCache;
  recorder: Recorder;
  valueTally: ValueTally;
  shares: FairScheduler;
  history: History;
  workspaces: WorkspaceService;
  workspaceRemoval: WorkspaceRemoval;
  users: UserService;
  tokens: TokenService;
  products: ProductService;
  fields: FieldService;
  rules: RuleService;
  alerts: AlertService;
  plans: Plans;
  devices: DeviceService;
  deviceImporter: DeviceImporter;
  bulkChanges: BulkChanges;
  accessLinks: AccessLinks;
  deviceList: DeviceList;
  deviceClients: DeviceClients;
  notes: NoteService;
  writeRates: WriteRateService;
  calls: CallLog;
  callSearch: CallSearch;
  replay: Replay;
  decoders: DecoderService;
  examples: DecoderExamples;
  configurations: ConfigurationService;
  configurationExport: ConfigurationExport;
  configurationPlans: ConfigurationPlans;
  configurationApply: ConfigurationApply;
  unknownDevices: UnknownDevices;
  dashboards: DashboardService;
  endpoints: EndpointService;
  deliveries: Deliveries;
  /** BASE_URL without a final slash. */
  baseUrl: () => string;
  installation: LookAtInstallation;
  now: () => number;
}

/** A class of the schema's queries, mutations or fields, made with what its maker gives it. */
export type ResolverClass = new (...parts: never[]) => object;

/** Every resolver class of the schema, with the maker of its one instance: a new resolver is one line here. */
export const RESOLVERS: ReadonlyMap<ResolverClass, (deps: ResolverDeps) => object> = new Map<
  ResolverClass,
  (deps: ResolverDeps) => object
>([
  [ViewerResolver, (d) => new ViewerResolver(d.database, d.tokens)],
  [WorkspaceResolver, (d) => new WorkspaceResolver(d.workspaces, d.workspaceRemoval)],
  [WorkspaceObjectResolver, (d) => new WorkspaceObjectResolver(d.workspaces, d.tokens)],
  [WorkspaceFleetResolver, (d) => new WorkspaceFleetResolver(new FleetPlaces(d))],
  [FleetResolver, (d) => new FleetResolver(new Fleet(d))],
  [AuditResolver, (d) => new AuditResolver(d.auditLog)],
  [UserResolver, (d) => new UserResolver(d.users)],
  [TokenResolver, (d) => new TokenResolver(d.tokens)],
  [TokenObjectResolver, (d) => new TokenObjectResolver(d.tokens, d.deviceList)],
  [PlanResolver, (d) => new PlanResolver(d.plans, d.devices, d.shares)],
  [ProductResolver, (d) => new ProductResolver(d.products)],
  [ProductObjectResolver, (d) => new ProductObjectResolver(d.fields, d.deviceList, d.baseUrl)],
  [ProductCallsResolver, (d) => new ProductCallsResolver(d.calls, d.callSearch)],
  [ProductDecoderResolver, (d) => new ProductDecoderResolver(d.decoders, d.examples, d.replay)],
  [DecoderResolver, (d) => new DecoderResolver(d.decoders, d.examples)],
  [DecoderVersionResolver, () => new DecoderVersionResolver()],
  [WebhookCallResolver, () => new WebhookCallResolver()],
  [DecoderExampleResolver, () => new DecoderExampleResolver()],
  [DecoderRunResolver, () => new DecoderRunResolver()],
  [ReplayResolver, (d) => new ReplayResolver(d.replay)],
  [ConfigurationResolver, (d) => new ConfigurationResolver(d.configurations)],
  [
    ConfigurationDocumentResolver,
    (d) => new ConfigurationDocumentResolver(d.configurationExport, d.configurationPlans, d.configurationApply),
  ],
  [
    RuleResolver,
    (d) => {
      const choice = new DeviceChoice(d.ingestCache, d.deviceList);
      return new RuleResolver(d.rules, new RuleTrial({ ...d, choice }));
    },
  ],
  [RuleObjectResolver, (d) => new RuleObjectResolver(d.alerts)],
  [RuleNotifyResolver, (d) => new RuleNotifyResolver(d.endpoints)],
  [AlertResolver, (d) => new AlertResolver(d.alerts)],
  [AlertObjectResolver, () => new AlertObjectResolver()],
  [UnknownDeviceResolver, (d) => new UnknownDeviceResolver(d.unknownDevices)],
  [DashboardResolver, (d) => new DashboardResolver(d.dashboards)],
  [DashboardObjectResolver, (d) => new DashboardObjectResolver(d.dashboards)],
  [EndpointResolver, (d) => new EndpointResolver(d.endpoints, d.deliveries)],
  [EndpointObjectResolver, (d) => new EndpointObjectResolver(d.endpoints, d.deliveries)],
  [DeliveryObjectResolver, () => new DeliveryObjectResolver()],
  [FieldResolver, (d) => new FieldResolver(d.fields)],
  [FieldObjectResolver, (d) => new FieldObjectResolver(new FieldMisfits({ ...d, devices: d.deviceList }))],
  [DeviceViewResolver, (d) => new DeviceViewResolver(new DeviceViews(d.database, d.now))],
  [AccessLinkResolver, (d) => new AccessLinkResolver(d.accessLinks, d.baseUrl)],
  [BulkResolver, (d) => new BulkResolver(d.bulkChanges)],
  [DeviceImportResolver, (d) => new DeviceImportResolver(d.deviceImporter)],
  [DeviceResolver, (d) => new DeviceResolver(d.devices, d.deviceList, d.writeRates, d.shares)],
  [DeviceObjectResolver, (d) => new DeviceObjectResolver(d.plans, d.deviceClients, d.now)],
  [NoteResolver, (d) => new NoteResolver(d.notes)],
  [DeviceValuesResolver, (d) => new DeviceValuesResolver(d.ingestCache, d.history)],
  [SeriesResolver, () => new SeriesResolver()],
  [DeviceWriteRateResolver, (d) => new DeviceWriteRateResolver(d.writeRates)],
  [ProductWriteRateResolver, (d) => new ProductWriteRateResolver(d.writeRates)],
  [WorkspaceWriteRateResolver, (d) => new WorkspaceWriteRateResolver(d.writeRates)],
  [HistoryResolver, (d) => new HistoryResolver(new DeviceChoice(d.ingestCache, d.deviceList), d.history)],
  [MeasurementsResolver, (d) => new MeasurementsResolver(d)],
  [EntryOutcomeResolver, () => new EntryOutcomeResolver()],
  [InstallationResolver, (d) => new InstallationResolver(d.installation)],
  [LiveResolver, () => new LiveResolver()],
]);
