import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../../access/Actor.ts"
import { journalRows } from "../../events/JournalRepo.ts"
import { newId } from "../../ids/Id.ts"
import { offsetOf, type PageOf, type PageRequest } from "../../paging/Paging.ts"
import { AttributesChange } from "../Attributes.ts"
import type { AttributesDraft } from "./Draft.ts"

/** What a draft came to. `NoTitle`: the locale has no words yet and these bring no title. */
export type DraftWrite = "Saved" | "NoEntity" | "NoTitle"

/** Words that wait for approval, at most one draft per entity and locale. */
export class DraftRepo extends Context.Service<DraftRepo, {
  /** Lays the fields over those of the draft that is there. */
  readonly save: (
    entityId: string,
    locale: string,
    change: AttributesChange
  ) => Effect.Effect<DraftWrite, never, CurrentActor>
  /** Inside of a transaction: locks the entity and takes its draft away; undefined where there is none. */
  readonly take: (
    entityId: string,
    locale: string
  ) => Effect.Effect<AttributesChange | undefined, never, CurrentActor>
  /** False: there was none. */
  readonly reject: (entityId: string, locale: string) => Effect.Effect<boolean, never, CurrentActor>
  /** What waits, oldest first. */
  readonly list: (page: PageRequest) => Effect.Effect<PageOf<AttributesDraft>, never, CurrentActor>
}>()("stoa/domain/catalog/locales/DraftRepo") {
  static readonly layer = Layer.effect(DraftRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

const decodeChange = Schema.decodeUnknownEffect(AttributesChange)

/** A draft in the journal; a locale without one is one without changes. */
const draftJson = (row: string, changes = `${row}.changes`) =>
  `jsonb_build_object('id', ${row}.entity_id, 'locale', ${row}.locale, 'changes', ${changes})`

const nothing = "'{}'::jsonb"

const make = (sql: SqlClient.SqlClient): DraftRepo["Service"] => {
  const save = Effect.fn("DraftRepo.save")(function*(entityId: string, locale: string, sent: AttributesChange) {
    const actor = yield* CurrentActor
    const { status: _, ...changes } = sent
    interface Row {
      readonly saved: boolean
    }
    // The insert looks at the old draft, which is therefore read before it is written. The entity is locked, as by whoever writes its words: an approval and a draft of one locale go one after the other.
    const statement = sql<Row>`with entity as (select e.id, e.organization_id from catalog_entities e
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
      journalRows(sql, actor, {
        type: "catalog.proposeAttributes",
        entityType: "catalog_entity",
        entityId: "x.entity_id::text",
        payload: draftJson("x"),
        before: draftJson("x", `coalesce(o.changes, ${nothing})`),
        from: "written x left join old o on true"
      })
    })
      select w.id is not null as saved from entity n left join written w on true`
    const [row] = yield* statement
    return row === undefined ? "NoEntity" as const : row.saved ? "Saved" as const : "NoTitle" as const
  }, Effect.orDie)

  const take = Effect.fn("DraftRepo.take")(function*(entityId: string, locale: string) {
    const organization = yield* currentOrganization
    yield* sql`select 1 from catalog_entities
      where id = ${entityId}::uuid and organization_id = ${organization} for no key update`
    const [row] = yield* sql<{ readonly changes: unknown }>`delete from entity_attribute_drafts
      where entity_id = ${entityId}::uuid and locale = ${locale} and organization_id = ${organization} returning changes`
    return row === undefined ? undefined : yield* decodeChange(row.changes)
  }, Effect.orDie)

  const reject = Effect.fn("DraftRepo.reject")(function*(entityId: string, locale: string) {
    const actor = yield* CurrentActor
    const rows = yield* sql`with gone as (delete from entity_attribute_drafts
        where entity_id = ${entityId}::uuid and locale = ${locale} and organization_id = ${actor.organizationId}
        returning *),
      entry as (${
      journalRows(sql, actor, {
        type: "catalog.rejectAttributes",
        entityType: "catalog_entity",
        entityId: "x.entity_id::text",
        payload: draftJson("x", nothing),
        before: draftJson("x"),
        from: "gone x"
      })
    })
      select 1 from gone`
    return rows.length === 1
  }, Effect.orDie)

  return { save, take, reject, list: makeList(sql) }
}

const makeList = (sql: SqlClient.SqlClient) =>
  Effect.fn("DraftRepo.list")(function*(page: PageRequest) {
    const organization = yield* currentOrganization
    interface Row {
      readonly entity_id: string
      readonly slug: string
      readonly locale: string
      readonly changes: AttributesDraft["changes"]
      readonly proposed_by: string | null
      readonly proposed_at: Date
    }
    const [rows, counted] = yield* Effect.all([
      sql<Row>`select d.*, e.slug from entity_attribute_drafts d
      join catalog_entities e on e.id = d.entity_id and e.organization_id = d.organization_id
      where d.organization_id = ${organization} order by d.proposed_at, d.entity_id, d.locale
      limit ${page.limit} offset ${offsetOf(page)}`,
      sql<{ readonly count: bigint }>`select count(*) as count from entity_attribute_drafts
      where organization_id = ${organization}`
    ], { concurrency: "unbounded" })
    const items = rows.map((row): AttributesDraft => ({
      entityId: row.entity_id,
      slug: row.slug,
      locale: row.locale,
      changes: row.changes,
      proposedBy: row.proposed_by,
      proposedAt: row.proposed_at
    }))
    return { ...page, items, total: Number(counted[0]?.count ?? 0) }
  }, Effect.orDie)
