import { Context, Effect, Equal, Layer, String } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogRows } from "../events/ChangeLogRepo.ts"
import { newId } from "../ids/Id.ts"
import { jsonOf } from "../records/Columns.ts"
import { Attributes, type AttributesChange, type NewAttributes } from "./Attributes.ts"
import type { CatalogEntity } from "./Entity.ts"
import { entityColumns, entityJson } from "./EntityRowsRepo.ts"

/** The visibility of the entity, and its attributes in the requested locale if there are any. */
export interface AttributesRead {
  readonly entity: Pick<CatalogEntity, "status" | "isVisible">
  readonly attributes: Attributes | undefined
}

/** Reads the first of these locales that has attributes, with or without drafts. */
export interface AttributesQuery {
  readonly locales: ReadonlyArray<string>
  readonly drafts: boolean
}

/** Localized attributes of entities: one row per entity and locale. */
export class AttributesRepo extends Context.Service<AttributesRepo>()("stoa/domain/catalog/AttributesRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => make(sql))
}) {
  static readonly layer = Layer.effect(AttributesRepo, AttributesRepo.make)
}

/** The CTE that writes the attributes of the entity in the CTE `made`; writes no row without attributes. */
export const attributesInsert = (sql: SqlClient.SqlClient, input: NewAttributes | undefined) =>
  sql`insert into entity_attributes (id, organization_id, entity_id, locale, title, subtitle, description,
      rich_description, seo_title, seo_description)
    select ${newId()}::uuid, organization_id, id, ${input?.locale ?? "en"}, ${input?.title}, ${input?.subtitle},
      ${input?.description}, ${asJson(input?.richDescription)}::jsonb, ${input?.seoTitle}, ${input?.seoDescription}
    from made where ${input !== undefined}::boolean`

const asJson = (value: unknown): string | null => (value === undefined || value === null ? null : JSON.stringify(value))

const { status: _, ...storedFields } = Attributes.fields

/** Stored attributes as the API shows them: an SQL text over a row. */
const attributesJson = (row: string) => jsonOf(storedFields, row)

/** The event of changed attributes shows the entity with them, like a read that includes them. */
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

/** The event of deleted locales shows the entity before it with their attributes. */
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

interface ReadRow extends AttributesRead {
  readonly locale: string | null
  readonly stored: Omit<Attributes, "status"> | null
  readonly changes: Partial<Attributes> | null
  readonly draftId: string
}

/** The stored attributes with the draft merged into them; a locale that was never approved has the draft alone. */
const attributesOf = (entityId: string, { changes, draftId, locale, stored }: ReadRow): Attributes | undefined => {
  if (locale === null) return undefined
  const base = stored ?? { ...emptyAttributes, id: draftId, entityId, locale }
  return changes === null ? { ...base, status: "approved" } : { ...base, ...changes, status: "draft" }
}

const emptyAttributes = {
  title: "",
  subtitle: null,
  description: null,
  richDescription: null,
  seoTitle: null,
  seoDescription: null
}

const make = (sql: SqlClient.SqlClient) => {
  /** Undefined when there is no such entity. */
  const find = Effect.fn("AttributesRepo.find")(function*(entityId: string, query: AttributesQuery) {
    const organization = yield* currentOrganization
    // An entity without attributes in these locales still returns a row with its visibility.
    const [row] = yield* sql<ReadRow>`select json_build_object('status', e.status, 'isVisible', e.is_visible) as entity,
        w.*
      from catalog_entities e left join lateral (
        select l.locale, case when a.id is not null then ${sql.literal(attributesJson("a"))} end as stored, d.changes,
          d.id as "draftId"
        from unnest(${query.locales}::text[]) with ordinality l(locale, place)
        left join entity_attributes a on a.entity_id = e.id and a.locale = l.locale
        left join entity_attribute_drafts d on d.entity_id = e.id and d.locale = l.locale and ${query.drafts}::boolean
        where a.id is not null or d.id is not null order by l.place limit 1) w on true
      where e.id = ${entityId}::uuid and e.organization_id = ${organization}`
    return row === undefined ? undefined : { entity: row.entity, attributes: attributesOf(entityId, row) }
  }, Effect.orDie)

  /**
   * Inserts or merges. The first write of a locale needs a title; a write without a change emits no event. Returns
   * the entity after a change and before it, and the fields that changed.
   *
   * The conflict branch merges into the newest version of the row and writes only the given fields, so that parallel
   * writes of different fields keep each other's values. PostgreSQL checks NOT NULL before the conflict, so the proposed
   * row borrows the existing title.
   */
  const put = Effect.fn("AttributesRepo.put")(function*(entityId: string, locale: string, change: AttributesChange) {
    const actor = yield* CurrentActor
    interface Row extends CatalogEntity {
      readonly existed: boolean
      readonly changed: boolean
      readonly oldUpdatedAt: Date
      /** The row of the locale before the write; null for a new locale. */
      readonly old: Readonly<Record<string, unknown>> | null
    }
    // Every write of a part of an entity locks the entity: it waits for a concurrent deletion and then finds nothing,
    // instead of failing on the foreign key. It locks the attributes too, to see those of a concurrent request.
    const statement = sql<Row>`with locked as (
        select e.id, e.organization_id, e.updated_at, ${sql.literal(entityJson("e"))} as record
        from catalog_entities e
        where e.id = ${entityId}::uuid and e.organization_id = ${actor.organizationId} for no key update of e),
      previous as (select a.* from locked n join entity_attributes a on a.entity_id = n.id and a.locale = ${locale}
        for no key update of a),
      entity as (select n.*, a.title, a.id is not null as existed, to_jsonb(a) as old,
          ${sql.literal(attributesJson("a"))} as shown
        from locked n left join previous a on true),
      written as (
        insert into entity_attributes as t (id, organization_id, entity_id, locale, title, subtitle, description,
          rich_description, seo_title, seo_description)
        select ${newId()}::uuid, n.organization_id, n.id, ${locale}, coalesce(${change.title}, n.title),
          ${change.subtitle}, ${change.description}, ${asJson(change.richDescription)}::jsonb, ${change.seoTitle},
          ${change.seoDescription}
        from entity n where coalesce(${change.title}, n.title) is not null
        on conflict (entity_id, locale) ${merge(sql, change)}
        returning t.*),
      touched as (update catalog_entities e set updated_at = now() from written w where e.id = w.entity_id
        returning e.*),
      event as (${changeEvent(sql, actor)})
      select n.existed, t.id is not null as changed, n.updated_at as "oldUpdatedAt", n.old,
        ${sql.literal(entityColumns("t"))}
      from entity n left join touched t on true`
    let [row] = yield* statement
    // Another request created this locale at the same moment; the next attempt sees it.
    const isNew = change.title !== undefined
    for (let tries = 0; tries < 10 && isNew && row?.existed === false && !row.changed; tries++) [row] = yield* statement
    if (row === undefined) return { _tag: "NoEntity" } as const
    const { changed, existed, old, oldUpdatedAt, ...entity } = row
    if (!changed) return { _tag: existed || isNew ? "Unchanged" : "NoTitle" } as const
    const fields = changedFields(old ?? {}, change)
    return { _tag: "Changed", entity, old: { ...entity, updatedAt: oldUpdatedAt }, fields } as const
  }, Effect.orDie)

  return { find, keepOnly: makeKeepOnly(sql), put }
}

/** Deletes the attributes of all other locales. */
const makeKeepOnly = (sql: SqlClient.SqlClient) =>
  Effect.fn("AttributesRepo.keepOnly")(
    function*(entityId: string, locales: ReadonlyArray<string>) {
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

/** The given fields with a new value; absent fields were null. */
const changedFields = (old: Readonly<Record<string, unknown>>, change: AttributesChange) =>
  attributeFields.filter((field) =>
    field in change && !Equal.equals(old[String.camelToSnake(field)] ?? null, change[field] ?? null)
  )

/**
 * The conflict branch: overwrites the given fields only if the statement has read the previous row, so that it can report
 * what changed, and only if a value differs.
 */
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
