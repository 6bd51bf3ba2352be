import { Catalogue } from './0001-catalogue.ts';
import { Measurements } from './0002-measurements.ts';
import { FlushNumbers } from './0003-flush-numbers.ts';
import { AbsorbedDevices } from './0004-absorbed-devices.ts';
import { BegunAdoptions } from './0005-begun-adoptions.ts';
import { DevicesOfPlans } from './0006-devices-of-plans.ts';
import { PurgesOfDevices } from './0007-purges-of-devices.ts';
import { RowsOfDevices } from './0008-rows-of-devices.ts';
import { KeptNames } from './0009-kept-names.ts';
import { ZonesOfProducts } from './0010-zones-of-products.ts';
import { KeptHistory } from './0011-kept-history.ts';
import { MeaningOfFields } from './0012-meaning-of-fields.ts';
import { StoredOfCalls } from './0013-stored-of-calls.ts';
import { IgnoredPlaces } from './0014-ignored-places.ts';
import { PartsOfReadings } from './0015-parts-of-readings.ts';
import { KeysOfProducts } from './0016-keys-of-products.ts';
import { FieldsOfTokens } from './0017-fields-of-tokens.ts';
import { AppliedConfiguration } from './0018-applied-configuration.ts';
import { EarlierNamesOfFields } from './0019-earlier-names-of-fields.ts';
import { AccessLinksOfPeople } from './0020-access-links.ts';
import { MovedDevices } from './0021-moved-devices.ts';

/** In the order they run. A migration that has been released is never edited. */
export const MIGRATIONS = [
  { name: '0001-catalogue', class: Catalogue },
  { name: '0002-measurements', class: Measurements },
  { name: '0003-flush-numbers', class: FlushNumbers },
  { name: '0004-absorbed-devices', class: AbsorbedDevices },
  { name: '0005-begun-adoptions', class: BegunAdoptions },
  { name: '0006-devices-of-plans', class: DevicesOfPlans },
  { name: '0007-purges-of-devices', class: PurgesOfDevices },
  { name: '0008-rows-of-devices', class: RowsOfDevices },
  { name: '0009-kept-names', class: KeptNames },
  { name: '0010-zones-of-products', class: ZonesOfProducts },
  { name: '0011-kept-history', class: KeptHistory },
  { name: '0012-meaning-of-fields', class: MeaningOfFields },
  { name: '0013-stored-of-calls', class: StoredOfCalls },
  { name: '0014-ignored-places', class: IgnoredPlaces },
  { name: '0015-parts-of-readings', class: PartsOfReadings },
  { name: '0016-keys-of-products', class: KeysOfProducts },
  { name: '0017-fields-of-tokens', class: FieldsOfTokens },
  { name: '0018-applied-configuration', class: AppliedConfiguration },
  { name: '0019-earlier-names-of-fields', class: EarlierNamesOfFields },
  { name: '0020-access-links', class: AccessLinksOfPeople },
  { name: '0021-moved-devices', class: MovedDevices },
];
