import { DialectMigration } from './dialect-migration.ts';

/** Adds notes on the time line of devices. */
export class NotesOfDevices extends DialectMigration {
  protected readonly sqlite = `
    create table "device_note" ("key" integer not null primary key autoincrement, "id" text not null, "device_key" integer not null, "at" bigint not null, "kind" text not null, "text" text not null, "author" text null, "created_at" bigint not null, constraint "device_note_device_key_foreign" foreign key ("device_key") references "device" ("key") on delete cascade);
    create unique index "device_note_id_unique" on "device_note" ("id");
    create index "device_note_device_key_index" on "device_note" ("device_key");
    create index "device_note_device_key_at_index" on "device_note" ("device_key", "at");
  `;

  protected readonly postgres = `
    create table "device_note" ("key" serial primary key, "id" varchar(36) not null, "device_key" int not null, "at" bigint not null, "kind" varchar(12) not null, "text" text not null, "author" varchar(320) null, "created_at" bigint not null);
    alter table "device_note" add constraint "device_note_id_unique" unique ("id");
    create index "device_note_device_key_at_index" on "device_note" ("device_key", "at");
    alter table "device_note" add constraint "device_note_device_key_foreign" foreign key ("device_key") references "device" ("key") on delete cascade;
  `;
}
