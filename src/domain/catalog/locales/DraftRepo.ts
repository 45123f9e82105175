import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../../access/Actor.ts"
import { changeLogRows } from "../../events/ChangeLogRepo.ts"
import { newId } from "../../ids/Id.ts"
import { offsetOf, type PageRequest } from "../../paging/Paging.ts"
import { columnsOf } from "../../records/Columns.ts"
import { AttributesChange, AttributesDraft } from "../Attributes.ts"

/** Drafts of attributes, at most one per entity and locale. */
export class DraftRepo extends Context.Service<DraftRepo>()("stoa/domain/catalog/locales/DraftRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => make(sql))
}) {
  static readonly layer = Layer.effect(DraftRepo, DraftRepo.make)
}

const decodeChange = Schema.decodeUnknownEffect(AttributesChange)

/** A draft in the change log; no draft is recorded as one without changes. */
const draftJson = (row: string, changes = `${row}.changes`) =>
  `jsonb_build_object('id', ${row}.entity_id, 'locale', ${row}.locale, 'changes', ${changes})`

const nothing = "'{}'::jsonb"

const make = (sql: SqlClient.SqlClient) => {
  /** Merges the fields into the existing draft. `NoTitle`: the first text of a locale needs a title. */
  const save = Effect.fn("DraftRepo.save")(function*(entityId: string, locale: string, change: AttributesChange) {
    const actor = yield* CurrentActor
    const { status: _, ...changes } = change
    // Lock the entity like every write of attributes, so that approvals and drafts of a locale run one after the other.
    // The insert joins the old draft, which is therefore read before it is written.
    const [row] = yield* sql<
      { readonly saved: boolean }
    >`with entity as (select e.id, e.organization_id from catalog_entities e
        where e.id = ${entityId}::uuid and e.organization_id = ${actor.organizationId} for no key update of e),
      old as (select d.* from entity n join entity_attribute_drafts d on d.entity_id = n.id and d.locale = ${locale}
        for update of d),
      written as (
        insert into entity_attribute_drafts as d (id, organization_id, entity_id, locale, changes, proposed_by)
        select ${newId()}::uuid, n.organization_id, n.id, ${locale}, ${JSON.stringify(changes)}::jsonb,
          ${actor.userId ?? actor.keyId ?? null}
        from entity n left join old o on true where ${changes.title !== undefined}::boolean or o.id is not null
          or exists (select 1 from entity_attributes a where a.entity_id = n.id and a.locale = ${locale})
        on conflict (entity_id, locale) do update set changes = d.changes || excluded.changes,
          proposed_by = excluded.proposed_by, proposed_at = now()
        returning *),
      entry as (${
      changeLogRows(sql, actor, {
        type: "catalog.proposeAttributes",
        entityType: "catalog_entity",
        entityId: "x.entity_id::text",
        payload: draftJson("x"),
        before: draftJson("x", `coalesce(o.changes, ${nothing})`),
        from: "written x left join old o on true"
      })
    })
      select w.id is not null as saved from entity n left join written w on true`
    return row === undefined ? "NoEntity" as const : row.saved ? "Saved" as const : "NoTitle" as const
  }, Effect.orDie)

  /** Inside a transaction: locks the entity and deletes the draft. Undefined when there is none. */
  const remove = Effect.fn("DraftRepo.remove")(function*(entityId: string, locale: string) {
    const organization = yield* currentOrganization
    yield* sql`select 1 from catalog_entities
      where id = ${entityId}::uuid and organization_id = ${organization} for no key update`
    const [row] = yield* sql<{ readonly changes: unknown }>`delete from entity_attribute_drafts
      where entity_id = ${entityId}::uuid and locale = ${locale} and organization_id = ${organization} returning changes`
    return row === undefined ? undefined : yield* decodeChange(row.changes)
  }, Effect.orDie)

  /** Deletes the draft. False when there is none. */
  const reject = Effect.fn("DraftRepo.reject")(function*(entityId: string, locale: string) {
    const actor = yield* CurrentActor
    const rows = yield* sql`with deleted as (delete from entity_attribute_drafts
        where entity_id = ${entityId}::uuid and locale = ${locale} and organization_id = ${actor.organizationId}
        returning *),
      entry as (${
      changeLogRows(sql, actor, {
        type: "catalog.rejectAttributes",
        entityType: "catalog_entity",
        entityId: "x.entity_id::text",
        payload: draftJson("x", nothing),
        before: draftJson("x"),
        from: "deleted x"
      })
    })
      select 1 from deleted`
    return rows.length === 1
  }, Effect.orDie)

  return { save, remove, reject, list: makeList(sql) }
}

const draftColumns = columnsOf(AttributesDraft.fields, "d", { slug: "e.slug" })

/** Oldest first. */
const makeList = (sql: SqlClient.SqlClient) =>
  Effect.fn("DraftRepo.list")(function*(page: PageRequest) {
    const organization = yield* currentOrganization
    const [items, counted] = yield* Effect.all([
      sql<AttributesDraft>`select ${sql.literal(draftColumns)} from entity_attribute_drafts d
        join catalog_entities e on e.id = d.entity_id and e.organization_id = d.organization_id
        where d.organization_id = ${organization} order by d.proposed_at, d.entity_id, d.locale
        limit ${page.limit} offset ${offsetOf(page)}`,
      sql<{ readonly count: bigint }>`select count(*) as count from entity_attribute_drafts
        where organization_id = ${organization}`
    ], { concurrency: "unbounded" })
    return { ...page, items, total: Number(counted[0]?.count ?? 0) }
  }, Effect.orDie)
