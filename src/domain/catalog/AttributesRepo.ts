import { Context, Effect, Equal, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor, currentOrganization } from "../access/Actor.ts"
import { journalRows } from "../events/JournalRepo.ts"
import { newId } from "../ids/Id.ts"
import type { Attributes, AttributesChange, NewAttributes } from "./Attributes.ts"
import { entityJson } from "./CatalogEventRepo.ts"
import type { CatalogEntity, EntityStatus } from "./Entity.ts"
import { type EntityRow, toEntity } from "./EntityRow.ts"

/** What a write of attributes came to: the entity after and before it when something changed, and the fields that did. */
export type AttributesWrite =
  | {
    readonly _tag: "Changed"
    readonly entity: CatalogEntity
    readonly old: CatalogEntity
    readonly fields: ReadonlyArray<WordsField>
  }
  | { readonly _tag: "Unchanged" | "NoEntity" | "NoTitle" }

/** What a read found: whether the entity is public, and the words of the locale if it has them. */
export interface FoundAttributes {
  readonly entity: { readonly status: EntityStatus; readonly isVisible: boolean }
  readonly attributes: Attributes | undefined
}

/** Which words a read is to find: those of the first of these locales that has any, with drafts laid over them or not. */
export interface WordsWanted {
  readonly locales: ReadonlyArray<string>
  readonly drafts: boolean
}

/** Localized words of entities: one row per entity and locale. */
export class AttributesRepo extends Context.Service<AttributesRepo, {
  /** Undefined when there is no such entity. */
  readonly find: (
    entityId: string,
    wanted: WordsWanted
  ) => Effect.Effect<FoundAttributes | undefined, never, CurrentActor>
  /** Takes the words of all other locales away; the entity after and before it when there were any. */
  readonly keepOnly: (
    entityId: string,
    locales: ReadonlyArray<string>
  ) => Effect.Effect<void, never, CurrentActor>
  /** Inserts or merges. The first write of a locale needs a title; a write that changes nothing announces nothing. */
  readonly put: (
    entityId: string,
    locale: string,
    change: AttributesChange
  ) => Effect.Effect<AttributesWrite, never, CurrentActor>
}>()("stoa/domain/catalog/AttributesRepo") {
  static readonly layer = Layer.effect(AttributesRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

/** The part of a create statement that writes the words of the row in `made`; no row when none are given. */
export const attributesInsert = (sql: SqlClient.SqlClient, words: NewAttributes | undefined) =>
  sql`insert into entity_attributes (id, organization_id, entity_id, locale, title, subtitle, description,
      rich_description, seo_title, seo_description)
    select ${newId()}::uuid, organization_id, id, ${words?.locale ?? "en"}, ${words?.title}, ${words?.subtitle},
      ${words?.description}, ${asJson(words?.richDescription)}::jsonb, ${words?.seoTitle}, ${words?.seoDescription}
    from made where ${words !== undefined}::boolean`

const asJson = (value: unknown): string | null => (value === undefined || value === null ? null : JSON.stringify(value))

interface AttributesRow {
  /** Null where a locale has a draft and no approved words. */
  readonly id: string
  readonly entity_id: string
  readonly locale: string
  readonly title: string
  readonly subtitle: string | null
  readonly description: string | null
  readonly rich_description: unknown
  readonly seo_title: string | null
  readonly seo_description: string | null
}

const toAttributes = (row: AttributesRow): Attributes => ({
  id: row.id,
  entityId: row.entity_id,
  locale: row.locale,
  title: row.title,
  subtitle: row.subtitle,
  description: row.description,
  richDescription: row.rich_description,
  seoTitle: row.seo_title,
  seoDescription: row.seo_description,
  status: "approved"
})

const wordsJson = (row: string) =>
  `jsonb_build_object('id', ${row}->'id', 'entityId', ${row}->'entity_id', 'locale', ${row}->'locale',
    'title', ${row}->'title', 'subtitle', ${row}->'subtitle', 'description', ${row}->'description',
    'richDescription', ${row}->'rich_description', 'seoTitle', ${row}->'seo_title',
    'seoDescription', ${row}->'seo_description')`

/** The event of an entity whose words changed shows them, as an entity that is read with them does. */
const wordsChanged = (sql: SqlClient.SqlClient, actor: Actor) =>
  journalRows(sql, actor, {
    type: "catalog.update",
    entityType: "catalog_entity",
    entityId: "x.id::text",
    payload: `${entityJson("x")} || jsonb_build_object('attributes', jsonb_build_array(${wordsJson("to_jsonb(w)")}))`,
    before: `o.record || jsonb_build_object('attributes', case when o.known then
      jsonb_build_array(${wordsJson("o.words")}) else '[]' end)`,
    from: "touched x join written w on w.entity_id = x.id join entity o on o.id = x.id"
  })

/** The event of an entity that has lost words of some locales shows those that it had. */
const wordsGone = (sql: SqlClient.SqlClient, actor: Actor) =>
  journalRows(sql, actor, {
    type: "catalog.update",
    entityType: "catalog_entity",
    entityId: "x.id::text",
    payload: `${entityJson("x")} || '{"attributes": []}'`,
    before: `${entityJson("o")} || jsonb_build_object('attributes',
      (select jsonb_agg(${wordsJson("to_jsonb(g)")} order by g.locale) from gone g))`,
    from: "x join locked o on o.id = x.id"
  })

interface FoundRow extends AttributesRow {
  readonly status: EntityStatus
  readonly is_visible: boolean
  readonly found: string | null
  readonly changes: Partial<Attributes> | null
  readonly draft_id: string
}

/** The approved words with the draft laid over them; of a locale that was never approved only what the draft says. */
const wordsFound = (entityId: string, row: FoundRow): Attributes | undefined => {
  if (row.found === null) return undefined
  if (row.changes === null) return toAttributes(row)
  const base = row.id === null ? { ...noWords, id: row.draft_id, entityId, locale: row.found } : toAttributes(row)
  return { ...base, ...row.changes, status: "draft" }
}

const noWords = {
  title: "",
  subtitle: null,
  description: null,
  richDescription: null,
  seoTitle: null,
  seoDescription: null
}

const make = (sql: SqlClient.SqlClient): AttributesRepo["Service"] => {
  const find = Effect.fn("AttributesRepo.find")(function*(entityId: string, wanted: WordsWanted) {
    const organization = yield* currentOrganization
    // Without a locale that has words there is a row that says whether the entity is public, and no words.
    const rows = yield* sql<FoundRow>`select e.status, e.is_visible, w.*
      from catalog_entities e left join lateral (
        select l.locale as found, a.*, d.changes, d.id as draft_id
        from unnest(${wanted.locales}::text[]) with ordinality l(locale, place)
        left join entity_attributes a on a.entity_id = e.id and a.locale = l.locale
        left join entity_attribute_drafts d on d.entity_id = e.id and d.locale = l.locale and ${wanted.drafts}::boolean
        where a.id is not null or d.id is not null order by l.place limit 1) w on true
      where e.id = ${entityId}::uuid and e.organization_id = ${organization}`
    const row = rows[0]
    if (row === undefined) return undefined
    return { entity: { status: row.status, isVisible: row.is_visible }, attributes: wordsFound(entityId, row) }
  }, Effect.orDie)

  /*
   * The merge happens in the conflict branch, on the newest version of the row and for the given fields only, so that
   * parallel writes of different fields keep each other's values. The proposed row must carry a title even when it will
   * lose to an existing one, because NOT NULL is checked before the conflict: it borrows the old one.
   */
  const put = Effect.fn("AttributesRepo.put")(function*(entityId: string, locale: string, change: AttributesChange) {
    const actor = yield* CurrentActor
    interface Row extends EntityRow {
      readonly known: boolean
      readonly changed: boolean
      readonly old_updated_at: Date
      /** Values of the locale's columns before the write; null for a new locale. */
      readonly old: Readonly<Record<string, unknown>> | null
    }
    // Locked, here and wherever a part is written: an entity deleted at the same moment is waited for and then not
    // found, instead of a foreign key failure.
    // The words are locked too: those that another request wrote while this one waited are then seen as they are now.
    const statement = sql<Row>`with locked as (
        select e.id, e.organization_id, e.updated_at, ${sql.literal(entityJson("e"))} as record
        from catalog_entities e
        where e.id = ${entityId}::uuid and e.organization_id = ${actor.organizationId} for no key update of e),
      words as (select a.* from locked n join entity_attributes a on a.entity_id = n.id and a.locale = ${locale}
        for no key update of a),
      entity as (select n.*, a.title, a.id is not null as known, to_jsonb(a) as words
        from locked n left join words a on true),
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
      event as (${wordsChanged(sql, actor)})
      select n.known, t.id is not null as changed, n.updated_at as old_updated_at, n.words as old, t.*
      from entity n left join touched t on true`
    let [row] = yield* statement
    // Another request made these words in this very moment: the next statement sees what they are.
    const isNew = change.title !== undefined
    for (let tries = 0; tries < 10 && isNew && row?.known === false && !row.changed; tries++) [row] = yield* statement
    if (row === undefined) return { _tag: "NoEntity" } as const
    if (row.changed) {
      const entity = toEntity(row)
      const old = { ...entity, updatedAt: row.old_updated_at }
      return { _tag: "Changed", entity, old, fields: changedFields(row.old ?? {}, change) } as const
    }
    return !row.known && change.title === undefined ? { _tag: "NoTitle" } as const : { _tag: "Unchanged" } as const
  }, Effect.orDie)

  return { find, keepOnly: makeKeepOnly(sql), put }
}

const makeKeepOnly = (sql: SqlClient.SqlClient) =>
  Effect.fn("AttributesRepo.keepOnly")(
    function*(entityId: string, locales: ReadonlyArray<string>) {
      const actor = yield* CurrentActor
      yield* sql`with locked as (select e.* from catalog_entities e
        where e.id = ${entityId}::uuid and e.organization_id = ${actor.organizationId} for no key update of e),
      gone as (delete from entity_attributes a using locked n
        where a.entity_id = n.id and a.locale <> all(${locales}::text[]) returning a.*),
      x as (update catalog_entities e set updated_at = now()
        where e.id = (select id from locked) and exists (select 1 from gone) returning e.*),
      event as (${wordsGone(sql, actor)})
      select 1 from x`
    },
    Effect.orDie
  )

const columns = {
  title: "title",
  subtitle: "subtitle",
  description: "description",
  richDescription: "rich_description",
  seoTitle: "seo_title",
  seoDescription: "seo_description"
} as const

/** A field of words as requests name it. */
export type WordsField = keyof typeof columns

const fieldNames: ReadonlyArray<WordsField> = [
  "title",
  "subtitle",
  "description",
  "richDescription",
  "seoTitle",
  "seoDescription"
]

/** The given fields whose value is another one than before; a field that was not there before was null. */
const changedFields = (old: Readonly<Record<string, unknown>>, change: AttributesChange) =>
  fieldNames.filter((field) => field in change && !Equal.equals(old[columns[field]] ?? null, change[field] ?? null))

/**
 * The conflict branch: takes over the given fields of words that the statement knows, so that it can tell what they were,
 * and writes nothing when they hold those values already.
 */
const merge = (sql: SqlClient.SqlClient, change: AttributesChange) => {
  const given = Object.entries(columns).flatMap(([field, column]) => (field in change ? [column] : []))
  return sql.literal(
    given.length === 0
      ? "do nothing"
      : `do update set ${given.map((column) => `${column} = excluded.${column}`).join(", ")}
        where (select known from entity)
          and (${given.map((column) => `t.${column} is distinct from excluded.${column}`).join(" or ")})`
  )
}
