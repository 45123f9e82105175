import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../../platform/access/Actor.ts"
import type { EntityId } from "../../platform/ids/Id.ts"
import { offsetOf, type PageRequest } from "../../platform/paging/Paging.ts"
import { decoding } from "../../platform/records/Rows.ts"
import { Table } from "../../platform/records/Table.ts"
import { EntityNotFound } from "../Entity.ts"
import { Revision, RevisionNotFound, Snapshot } from "./Revision.ts"

export class RevisionRepo extends Context.Service<RevisionRepo>()("stoa/domain/catalog/revisions/RevisionRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => make(sql))
}) {
  static readonly layer = Layer.effect(RevisionRepo, RevisionRepo.make)
}

export const revisions = new Table("entity_revisions", Revision)

const columns = revisions.columns("r")
const revisionJson = revisions.json("r")

const Listed = Schema.Struct({
  total: Schema.Int,
  revision: Schema.NullOr(Revision),
  earlier: Schema.NullOr(Snapshot)
})

const make = (sql: SqlClient.SqlClient) => {
  const page = Effect.fn("RevisionRepo.page")(function*(entityId: EntityId, request: PageRequest) {
    const organization = yield* currentOrganization
    // An entity without revisions, and a page beyond the end, still give one row with the total.
    const rows = yield* decoding(sql, Listed)`select t.total, p.snapshot as earlier,
        case when r.number is not null then ${sql.literal(revisionJson)} end as revision
      from (select e.id, (select count(*) from entity_revisions where entity_id = e.id
          and organization_id = ${organization}) as total
        from catalog_entities e where e.id = ${entityId}::uuid and e.organization_id = ${organization}) t
      left join lateral (select * from entity_revisions where entity_id = t.id and organization_id = ${organization}
        order by number desc limit ${request.limit} offset ${offsetOf(request)}) r on true
      left join entity_revisions p on p.entity_id = r.entity_id and p.number = r.number - 1
        and p.organization_id = ${organization}
      order by r.number desc`
    if (rows[0] === undefined) return yield* new EntityNotFound()
    const items = rows.flatMap(({ earlier, revision }) => revision === null ? [] : { revision, earlier })
    return { ...request, items, total: rows[0].total }
  }, Effect.catchTag("SqlError", Effect.die))

  const find = Effect.fn("RevisionRepo.find")(function*(entityId: EntityId, number: number) {
    const organization = yield* currentOrganization
    const [found] = yield* decoding(sql, Revision)`select ${sql.literal(columns)} from entity_revisions r
      where entity_id = ${entityId}::uuid and number = ${number}::int4 and organization_id = ${organization}`
    return found ?? (yield* new RevisionNotFound(number))
  }, Effect.catchTag("SqlError", Effect.die))

  const markRestored = Effect.fn("RevisionRepo.markRestored")(function*(entityId: EntityId, number: number) {
    const organization = yield* currentOrganization
    yield* sql`update entity_revisions set restored_from = ${number}::int4
      where entity_id = ${entityId}::uuid and organization_id = ${organization}
        and transaction_id = pg_current_xact_id()`
  }, Effect.orDie)

  const purge = Effect.fn("RevisionRepo.purge")(function*(limit: number, days: number) {
    const rows = yield* sql`delete from entity_revisions d using (select entity_id, number from entity_revisions
          where superseded_at < now() - ${days}::int4 * interval '1 day'
          order by superseded_at limit ${limit}::int4 for update skip locked) o
        where d.entity_id = o.entity_id and d.number = o.number returning 1`
    return rows.length
  }, Effect.orDie)

  return { page, find, markRestored, purge }
}

/** Revisions kept per entity; a write that makes one more deletes the oldest. */
const maxRevisions = 100

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

/** The newest revision of an entity is never superseded. */
const superseded = `create index entity_revisions_superseded on entity_revisions (superseded_at)
    where superseded_at is not null`

export const snapshotFunction = (customFields: string, more = "") =>
  `create or replace function entity_snapshot(entity uuid) returns jsonb language sql stable as $$
  select jsonb_build_object('slug', e.slug, 'status', e.status, 'isVisible', e.is_visible, 'taxClass', e.tax_class,
      'metadata', e.metadata, 'customFields', ${customFields},
      'attributes', (select coalesce(jsonb_object_agg(a.locale, jsonb_build_object('title', a.title,
          'subtitle', a.subtitle, 'description', a.description, 'richDescription', a.rich_description,
          'seoTitle', a.seo_title, 'seoDescription', a.seo_description)), '{}')
        from entity_attributes a where a.entity_id = e.id))${more}
    from catalog_entities e where e.id = entity $$`

/**
 * Writes a revision for every change log entry of an entity: no writer can omit it. Writers lock the entity's row:
 * revisions are numbered without gaps. Several entries of one transaction make one revision; an unchanged entity makes
 * none.
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
