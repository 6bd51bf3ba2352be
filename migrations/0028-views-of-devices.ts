import { SqlitePlatform } from '@mikro-orm/sqlite';
import { deviceSearchText, metadataText } from '../src/domain/devices/device-search-text.ts';
import { TagListType } from '../src/domain/entities/tag-list.ts';
import { updateRows } from '../src/domain/sql/bulk-rows.ts';
import { DialectMigration } from './dialect-migration.ts';

/** Devices read at once, with up to 64 KiB of metadata each. */
const AT_ONCE = 100;
const TAGS = new TagListType();

interface DeviceRow {
  key: number;
  name: string;
  serial_number: string;
  location: string | null;
  tags: string;
  metadata: unknown;
}

/**
 * Adds views of the device list: names for the query of its address, a person's own (`user_id`) or the workspace's.
 * Writes the search text of every device anew, by which numbers in names sort by their size and which holds location,
 * tags and metadata.
 */
export class ViewsOfDevices extends DialectMigration {
  protected readonly sqlite = `
    create table "device_view" ("id" text not null primary key, "workspace_id" text not null, "user_id" text null, "name" text not null, "query" text not null, "created_at" bigint not null, constraint "device_view_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade, constraint "device_view_user_id_foreign" foreign key ("user_id") references "user_account" ("id") on delete cascade);
    create index "device_view_workspace_id_index" on "device_view" ("workspace_id");
    create index "device_view_user_id_index" on "device_view" ("user_id");
  `;

  protected readonly postgres = `
    create table "device_view" ("id" varchar(36) not null, "workspace_id" varchar(36) not null, "user_id" varchar(36) null, "name" varchar(100) not null, "query" text not null, "created_at" bigint not null, primary key ("id"));
    create index "device_view_workspace_id_index" on "device_view" ("workspace_id");
    create index "device_view_user_id_index" on "device_view" ("user_id");
    alter table "device_view" add constraint "device_view_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade;
    alter table "device_view" add constraint "device_view_user_id_foreign" foreign key ("user_id") references "user_account" ("id") on delete cascade;
  `;

  override async up(): Promise<void> {
    const dialect = this.driver.getPlatform() instanceof SqlitePlatform ? 'sqlite' : 'postgres';
    const em = this.getEntityManager();
    for (let after = 0; ;) {
      const devices = await em.execute<DeviceRow[]>(
        `select "key", name, serial_number, location, tags, metadata from device where "key" > ? order by "key" limit ${AT_ONCE}`,
        [after],
      );
      const rows = devices.map(({ key, name, serial_number: serialNumber, location, tags, metadata }) => {
        // SQLite gives JSON as its text.
        const json: unknown = typeof metadata === 'string' && dialect === 'sqlite' ? JSON.parse(metadata) : metadata;
        const device = { name, serialNumber, location, tags: TAGS.convertToJSValue(tags) };
        return [key, deviceSearchText(device, metadataText(json))];
      });
      await updateRows(em, dialect, { table: 'device', columns: { search_text: 'text' }, rows });
      const last = devices.at(-1);
      if (last === undefined) break;
      after = last.key;
    }
    await super.up();
  }
}
