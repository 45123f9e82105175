import { statements } from "../platform/database/MigrationStatements.ts"
import { countedBy } from "../platform/paging/migrations.ts"

export const migrations = {
  "0001_media": statements(
    `create table media_assets (
      id uuid primary key,
      organization_id text not null references organizations,
      storage_key text not null unique,
      filename text not null,
      content_type text not null,
      size bigint not null check (size > 0),
      digest text not null,
      width int check (width > 0),
      height int check (height > 0),
      alt text,
      metadata jsonb not null default '{}',
      origin text not null default 'merchant' check (origin in ('merchant', 'generated', 'imported')),
      confidence double precision,
      derived_from_asset_id uuid references media_assets on delete set null,
      is_public boolean not null default false,
      uploaded_at timestamptz not null default now()
    )`,
    `create index media_assets_newest on media_assets (organization_id, uploaded_at desc, id desc)`,
    `create index media_assets_type on media_assets (organization_id, content_type, uploaded_at desc, id desc)`,
    `create index media_assets_derived on media_assets (derived_from_asset_id) where derived_from_asset_id is not null`,
    `create table entity_media (
      organization_id text not null,
      entity_id uuid not null references catalog_entities on delete cascade,
      variant_id uuid references variants on delete cascade,
      media_asset_id uuid not null references media_assets on delete cascade,
      role text not null check (role in ('primary', 'gallery', 'thumbnail', 'video', 'document')),
      sort_order int not null default 0,
      attached_at timestamptz not null default now(),
      constraint entity_media_once unique nulls not distinct (entity_id, variant_id, media_asset_id)
    )`,
    `create index entity_media_asset on entity_media (media_asset_id, entity_id)`,
    `create index entity_media_variant on entity_media (variant_id) where variant_id is not null`,
    `create table media_renditions (
      organization_id text not null,
      asset_id uuid not null references media_assets on delete cascade,
      width int not null,
      storage_key text not null unique,
      content_type text not null,
      size bigint not null check (size > 0),
      digest text not null,
      created_at timestamptz not null default now(),
      primary key (asset_id, width)
    )`,
    /*
     * A file gets an entry before it is stored, due after its upload must have ended, and loses it in the statement
     * that writes its row. A deleted row gives its file an entry.
     */
    `create table media_removals (
      storage_key text primary key,
      organization_id text not null,
      due_at timestamptz not null default now(),
      attempts int not null default 0
    )`,
    `create index media_removals_due on media_removals (due_at)`,
    `create function media_file_doomed() returns trigger language plpgsql as $$
      begin
        insert into media_removals (storage_key, organization_id)
          select storage_key, organization_id from gone order by storage_key
          on conflict (storage_key) do update set due_at = now();
        return null;
      end $$`,
    `create trigger media_assets_file after delete on media_assets
      referencing old table as gone for each statement execute function media_file_doomed()`,
    `create trigger media_renditions_file after delete on media_renditions
      referencing old table as gone for each statement execute function media_file_doomed()`,
    // The row outlives the medium: a deleted medium is not fetched again.
    `create table external_pictures (
      id uuid primary key,
      organization_id text not null,
      entity_id uuid not null references catalog_entities on delete cascade,
      url text not null,
      position int not null,
      alt text,
      state text not null default 'waiting' check (state in ('waiting', 'attached', 'refused')),
      reason text,
      media_asset_id uuid references media_assets on delete set null,
      updated_at timestamptz not null default now()
    )`,
    // An address can be longer than an entry of an index.
    `create unique index external_pictures_once on external_pictures (entity_id, md5(url))`,
    `create index external_pictures_medium on external_pictures (media_asset_id) where media_asset_id is not null`
  ),
  // Joined by other modules: columns keep name and meaning.
  "0002_read_views": statements(
    `create view entity_media_read as
      select organization_id, entity_id, variant_id, media_asset_id, role, sort_order, attached_at
      from entity_media`,
    `create view media_assets_read as
      select id, organization_id, storage_key, filename, content_type, size, width, height, alt, metadata, is_public,
        uploaded_at
      from media_assets`
  ),
  "0003_counted": statements(
    ...countedBy({ table: "media_assets", part: (row) => `${row}.content_type` })
  ),
  "0004_uploaders": statements(
    `alter table media_assets add column uploaded_by text, add column expires_at timestamptz`,
    `create index media_assets_waiting on media_assets (organization_id, uploaded_by) where expires_at is not null`,
    `create index media_assets_expired on media_assets (expires_at) where expires_at is not null`
  )
}
