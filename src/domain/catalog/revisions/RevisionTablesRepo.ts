/** Revisions kept per entity; a write that makes one more deletes the oldest. */
export const maxRevisions = 100

const table = `create table entity_revisions (
    organization_id text not null,
    entity_id uuid not null references catalog_entities on delete cascade,
    number int not null check (number > 0),
    snapshot jsonb not null,
    changed_by text,
    changed_by_type text,
    request_id text,
    source text not null,
    restored_from int,
    transaction_id xid8 not null default pg_current_xact_id(),
    created_at timestamptz not null default clock_timestamp(),
    superseded_at timestamptz,
    primary key (entity_id, number)
  )`

/** For the scheduled task that deletes superseded revisions; the newest of an entity is never superseded. */
const superseded = `create index entity_revisions_superseded on entity_revisions (superseded_at)
    where superseded_at is not null`

/** The content of a revision: everything that staff write of an entity. */
export const snapshotFunction = (customFields: string) =>
  `create or replace function entity_snapshot(entity uuid) returns jsonb language sql stable as $$
  select jsonb_build_object('slug', e.slug, 'status', e.status, 'isVisible', e.is_visible, 'taxClass', e.tax_class,
      'metadata', e.metadata, 'customFields', ${customFields},
      'attributes', (select coalesce(jsonb_object_agg(a.locale, jsonb_build_object('title', a.title,
          'subtitle', a.subtitle, 'description', a.description, 'richDescription', a.rich_description,
          'seoTitle', a.seo_title, 'seoDescription', a.seo_description)), '{}')
        from entity_attributes a where a.entity_id = e.id))
    from catalog_entities e where e.id = entity $$`

/**
 * Writes a revision for every change log entry of an entity, at the end of the statement that writes the entry: no writer
 * can omit it, and the entry names the actor. Writers lock the entity's row, so its revisions are numbered without gaps.
 * Several entries of one transaction make one revision; an entry that left the entity unchanged makes none.
 */
const keep = `create function entity_revisions_keep() returns trigger language plpgsql as $$
  declare
    entity uuid := new.entity_id::uuid;
    now_is jsonb := entity_snapshot(entity);
    last entity_revisions;
  begin
    select * into last from entity_revisions where entity_id = entity order by number desc limit 1;
    if now_is is null or now_is = last.snapshot then
      return null;
    end if;
    if last.transaction_id = pg_current_xact_id() then
      update entity_revisions set snapshot = now_is where entity_id = entity and number = last.number;
      return null;
    end if;
    insert into entity_revisions (organization_id, entity_id, number, snapshot, changed_by, changed_by_type, request_id, source)
      values (new.organization_id, entity, coalesce(last.number, 0) + 1, now_is, new.actor_id, new.actor_type,
        new.request_id, new.source);
    update entity_revisions set superseded_at = now() where entity_id = entity and number = last.number;
    delete from entity_revisions where entity_id = entity and number <= coalesce(last.number, 0) + 1 - ${maxRevisions};
    return null;
  end $$`

/** The table, its trigger, and the first revision of every existing entity. */
export const revisionTables: ReadonlyArray<string> = [
  table,
  superseded,
  snapshotFunction("'{}'::jsonb"),
  keep,
  // PostgreSQL checks the condition first: entries of other subjects cost no function call.
  `create trigger entity_revisions_keep after insert on outbox_events for each row
    when (new.entity_type = 'catalog_entity' and new.type in ('catalog.create', 'catalog.update')
      and new.entity_id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$')
    execute function entity_revisions_keep()`,
  `insert into entity_revisions (organization_id, entity_id, number, snapshot, source, created_at)
    select organization_id, id, 1, entity_snapshot(id), 'local', updated_at from catalog_entities`
]
