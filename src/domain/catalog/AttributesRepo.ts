import { Context, Effect, Equal, Layer, Schema, String } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { invalid, notFound } from "../platform/errors/ErrorKinds.ts"
import { changeLogRows } from "../platform/events/ChangeLogRepo.ts"
import { type EntityId, newId } from "../platform/ids/Id.ts"
import { totalOf } from "../platform/paging/ListTotalsRepo.ts"
import { offsetOf, type PageRequest } from "../platform/paging/Paging.ts"
import { decoding } from "../platform/records/Rows.ts"
import { columnsOf, jsonOf } from "../platform/records/Table.ts"
import { attributeDrafts, attributes } from "./CatalogTables.ts"
import {
  Attributes,
  AttributesChange,
  AttributesDraft,
  CatalogEntity,
  EntityNotFound,
  type NewAttributes
} from "./Entity.ts"
import { entityJson } from "./EntityStatements.ts"

class TitleMissing extends invalid("Title", "title", "is required the first time a locale is written.", "required") {}

class DraftNotFound
  extends notFound("Draft", (locale: string) => `No draft of locale '${locale}' waits for approval.`)
{}

/** Localized attributes of entities, one row per entity and locale, and their drafts. */
export class AttributesRepo extends Context.Service<AttributesRepo>()("stoa/domain/catalog/AttributesRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => ({
    put: makePut(sql),
    keepOnly: makeKeepOnly(sql),
    ...makeDrafts(sql),
    listDrafts: makeDraftList(sql)
  }))
}) {
  static readonly layer = Layer.effect(AttributesRepo, AttributesRepo.make)
}

const ofEntity = { organizationId: "n.organization_id", entityId: "n.id" }

const textsOf = (sql: SqlClient.SqlClient, sent: AttributesChange | undefined) => ({
  subtitle: sql`${sent?.subtitle}`,
  description: sql`${sent?.description}`,
  richDescription: sql`${asJson(sent?.richDescription)}::jsonb`,
  seoTitle: sql`${sent?.seoTitle}`,
  seoDescription: sql`${sent?.seoDescription}`
})

const asJson = (value: unknown): string | null => (value === undefined || value === null ? null : JSON.stringify(value))

export const attributesInsert = (sql: SqlClient.SqlClient, input: NewAttributes | undefined) =>
  sql`insert into entity_attributes ${
    attributes.insert(sql, {
      id: sql`${newId()}::uuid`,
      organizationId: "organization_id",
      entityId: "id",
      locale: sql`${input?.locale ?? "en"}`,
      title: sql`${input?.title}`,
      ...textsOf(sql, input)
    })
  } from made where ${input !== undefined}::boolean`

const { status: _, ...storedFields } = Attributes.fields

const attributesJson = (row: string) => jsonOf(storedFields, row)

const changeEvent = (sql: SqlClient.SqlClient, actor: Actor) =>
  changeLogRows(sql, actor, {
    type: "catalog.update",
    entityType: "catalog_entity",
    entityId: "x.id::text",
    payload: `${entityJson("x")} || jsonb_build_object('attributes', jsonb_build_array(${attributesJson("w")}))`,
    before: `o.record || jsonb_build_object('attributes', case when o.existed then
      jsonb_build_array(o.shown) else '[]' end)`,
    from: "touched x join written w on w.entity_id = x.id join entity o on o.id = x.id"
  })

const deletionEvent = (sql: SqlClient.SqlClient, actor: Actor) =>
  changeLogRows(sql, actor, {
    type: "catalog.update",
    entityType: "catalog_entity",
    entityId: "x.id::text",
    payload: `${entityJson("x")} || '{"attributes": []}'`,
    before: `${entityJson("o")} || jsonb_build_object('attributes',
      (select jsonb_agg(${attributesJson("d")} order by d.locale) from deleted d))`,
    from: "x join locked o on o.id = x.id"
  })

const PutRow = Schema.Struct({
  existed: Schema.Boolean,
  old: CatalogEntity,
  entity: Schema.NullOr(CatalogEntity),
  previous: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))
})

/**
 * Inserts or merges; undefined without a change. 404, and 422 for the first write of a locale without title.
 * Writes only the given fields: parallel writes of different fields keep each other's values. PostgreSQL checks NOT
 * NULL before the conflict, so the proposed row borrows the existing title.
 */
const makePut = (sql: SqlClient.SqlClient) =>
  Effect.fn("AttributesRepo.put")(function*(entityId: EntityId, locale: string, change: AttributesChange) {
    const actor = yield* CurrentActor
    // Every write of a part of an entity locks the entity: it waits for a concurrent deletion and then finds nothing,
    // instead of failing on the foreign key. It locks the attributes too, to see those of a concurrent request.
    const statement = decoding(sql, PutRow)`with locked as (
        select e.id, e.organization_id, ${sql.literal(entityJson("e"))} as record from catalog_entities e
        where e.id = ${entityId}::uuid and e.organization_id = ${actor.organizationId} for no key update of e),
      previous as (select a.* from locked n join entity_attributes a on a.entity_id = n.id and a.locale = ${locale}
        for no key update of a),
      entity as (select n.*, a.title, a.id is not null as existed, to_jsonb(a) as previous,
          ${sql.literal(attributesJson("a"))} as shown
        from locked n left join previous a on true),
      written as (
        insert into entity_attributes as t ${
      attributes.insert(sql, {
        id: sql`${newId()}::uuid`,
        ...ofEntity,
        locale: sql`${locale}`,
        title: sql`coalesce(${change.title}, n.title)`,
        ...textsOf(sql, change)
      })
    } from entity n where coalesce(${change.title}, n.title) is not null
        on conflict (entity_id, locale) ${merge(sql, change)}
        returning t.*),
      touched as (update catalog_entities e set updated_at = now() from written w where e.id = w.entity_id
        returning e.*),
      event as (${changeEvent(sql, actor)})
      select n.existed, n.record as old, n.previous,
        case when t.id is not null then ${sql.literal(entityJson("t"))} end as entity
      from entity n left join touched t on true`
    let [row] = yield* statement
    // Another request created this locale at the same moment; the next attempt sees it.
    const isNew = change.title !== undefined
    for (let tries = 0; tries < 10 && isNew && row?.existed === false && row.entity === null; tries++) {
      ;[row] = yield* statement
    }
    if (row === undefined) return yield* new EntityNotFound()
    const { entity, existed, old, previous } = row
    if (entity !== null) return { entity, old, fields: changedFields(previous ?? {}, change) }
    return existed || isNew ? undefined : yield* new TitleMissing()
  }, Effect.catchTag("SqlError", Effect.die))

const makeKeepOnly = (sql: SqlClient.SqlClient) =>
  Effect.fn("AttributesRepo.keepOnly")(
    function*(entityId: EntityId, locales: ReadonlyArray<string>) {
      const actor = yield* CurrentActor
      yield* sql`with locked as (select e.* from catalog_entities e
        where e.id = ${entityId}::uuid and e.organization_id = ${actor.organizationId} for no key update of e),
      deleted as (delete from entity_attributes a using locked n
        where a.entity_id = n.id and a.locale <> all(${locales}::text[]) returning a.*),
      x as (update catalog_entities e set updated_at = now()
        where e.id = (select id from locked) and exists (select 1 from deleted) returning e.*),
      event as (${deletionEvent(sql, actor)})
      select 1 from x`
    },
    Effect.orDie
  )

const attributeFields = ["title", "subtitle", "description", "richDescription", "seoTitle", "seoDescription"] as const

const changedFields = (old: Readonly<Record<string, unknown>>, change: AttributesChange) =>
  attributeFields.filter((field) =>
    field in change && !Equal.equals(old[String.camelToSnake(field)] ?? null, change[field] ?? null)
  )

const merge = (sql: SqlClient.SqlClient, change: AttributesChange) => {
  const given = attributeFields.filter((field) => field in change).map(String.camelToSnake)
  return sql.literal(
    given.length === 0
      ? "do nothing"
      : `do update set ${given.map((column) => `${column} = excluded.${column}`).join(", ")}
        where (select existed from entity)
          and (${given.map((column) => `t.${column} is distinct from excluded.${column}`).join(" or ")})`
  )
}

const draftJson = (row: string, changes = `${row}.changes`) =>
  `jsonb_build_object('id', ${row}.entity_id, 'locale', ${row}.locale, 'changes', ${changes})`

const nothing = "'{}'::jsonb"

const makeDrafts = (sql: SqlClient.SqlClient) => {
  const saveDraft = Effect.fn("AttributesRepo.saveDraft")(
    function*(entityId: EntityId, locale: string, change: AttributesChange) {
      const actor = yield* CurrentActor
      const { status: _, ...changes } = change
      // Lock the entity: approvals and drafts of a locale run one after the other. The insert joins the old draft,
      // which is therefore read before it is written.
      const [row] = yield* decoding(
        sql,
        Schema.Struct({ saved: Schema.Boolean })
      )`with entity as (select e.id, e.organization_id from catalog_entities e
        where e.id = ${entityId}::uuid and e.organization_id = ${actor.organizationId} for no key update of e),
      old as (select d.* from entity n join entity_attribute_drafts d on d.entity_id = n.id and d.locale = ${locale}
        for update of d),
      written as (
        insert into entity_attribute_drafts as d ${
        attributeDrafts.insert(sql, {
          id: sql`${newId()}::uuid`,
          ...ofEntity,
          locale: sql`${locale}`,
          changes: sql`${JSON.stringify(changes)}::jsonb`,
          proposedBy: sql`${actor.userId ?? actor.keyId ?? null}`
        })
      } from entity n left join old o on true where ${changes.title !== undefined}::boolean or o.id is not null
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
      if (row === undefined) return yield* new EntityNotFound()
      if (!row.saved) return yield* new TitleMissing()
    },
    Effect.catchTag("SqlError", Effect.die)
  )

  const takeDraft = Effect.fn("AttributesRepo.takeDraft")(function*(entityId: EntityId, locale: string) {
    const organization = yield* currentOrganization
    yield* sql`select 1 from catalog_entities
      where id = ${entityId}::uuid and organization_id = ${organization} for no key update`
    const [row] = yield* decoding(sql, Schema.Struct({ changes: AttributesChange }))`delete from entity_attribute_drafts
      where entity_id = ${entityId}::uuid and locale = ${locale} and organization_id = ${organization} returning changes`
    return row?.changes ?? (yield* new DraftNotFound(locale))
  }, Effect.catchTag("SqlError", Effect.die))

  const rejectDraft = Effect.fn("AttributesRepo.rejectDraft")(function*(entityId: EntityId, locale: string) {
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
    if (rows.length === 0) return yield* new DraftNotFound(locale)
  }, Effect.catchTag("SqlError", Effect.die))

  return { saveDraft, takeDraft, rejectDraft }
}

const draftColumns = columnsOf(AttributesDraft.fields, "d", { slug: "e.slug" })

const makeDraftList = (sql: SqlClient.SqlClient) =>
  Effect.fn("AttributesRepo.listDrafts")(function*(page: PageRequest) {
    const organization = yield* currentOrganization
    const [items, counted] = yield* Effect.all([
      decoding(sql, AttributesDraft)`select ${sql.literal(draftColumns)} from entity_attribute_drafts d
        join catalog_entities e on e.id = d.entity_id and e.organization_id = d.organization_id
        where d.organization_id = ${organization} order by d.proposed_at, d.entity_id, d.locale
        limit ${page.limit} offset ${offsetOf(page)}`,
      decoding(sql, Schema.Struct({ count: Schema.Int }))`select
        ${totalOf(sql, organization, "entity_attribute_drafts")} as count`
    ], { concurrency: "unbounded" })
    return { ...page, items, total: counted[0]?.count ?? 0 }
  }, Effect.orDie)
