/** When entities become public and stop being so; a moment that was carried out, or refused, is taken away. */
export const scheduleTables: ReadonlyArray<string> = [
  `create table entity_schedules (
    entity_id uuid primary key references catalog_entities on delete cascade,
    organization_id text not null,
    publish_at timestamptz,
    unpublish_at timestamptz,
    refusal text,
    scheduled_by text,
    updated_at timestamptz not null default now(),
    check (publish_at < unpublish_at)
  )`,
  `create index entity_schedules_publish on entity_schedules (publish_at) where publish_at is not null`,
  `create index entity_schedules_unpublish on entity_schedules (unpublish_at) where unpublish_at is not null`
]
