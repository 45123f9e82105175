import { Effect, Equal, Result, Schema, Struct } from "effect"
import { CatalogSettings } from "../../catalog/CatalogSettings.ts"
import type { CatalogEntity, NewEntity } from "../../catalog/Entity.ts"
import { stockPolicyFields } from "../../catalog/StockPolicy.ts"
import { policyOf } from "../../catalog/TypePolicy.ts"
import { CurrentActor, holds } from "../../platform/access/Actor.ts"
import { RowBatch } from "../../platform/batching/RowBatch.ts"
import { ValidationFailed } from "../../platform/errors/ApiErrors.ts"
import { Hooks } from "../../platform/hooks/Hooks.ts"
import { type EntityId, newId } from "../../platform/ids/Id.ts"
import { withSent } from "../../platform/resources/RecordService.ts"
import { type BatchContext, refused, upsertOf } from "../Upsert.ts"
import { fieldReads, type FieldState, productReads, productTables as tables } from "./CatalogImportRepo.ts"
import type { ProductState, StoredProduct, StoredTexts } from "./CatalogImportRepo.ts"
import { planFields } from "./ProductFields.ts"
import { planLinks } from "./ProductGroups.ts"
import { mediaIssues, planMedia } from "./ProductMedia.ts"
import type { NamedProduct, ProductRecord, ProductTexts } from "./ProductRecord.ts"
import { planTaxClass } from "./ProductTax.ts"
import { planVariants } from "./ProductVariants.ts"

type Typed = Pick<CatalogSettings["Service"], "types" | "uniqueSkus">

/** An entity that a record created or changed. */
interface WrittenProduct {
  readonly entity: CatalogEntity
  readonly old: CatalogEntity | undefined
}

/**
 * Merges each record into the entity of its slug, or creates it (docs/import-export.md). Slugs must be unique within a
 * batch.
 */
export const productImport = Effect.gen(function*() {
  const readProducts = yield* productReads
  const readFields = yield* fieldReads
  const hooks = productHooks(yield* Hooks)
  const { types, uniqueSkus } = yield* CatalogSettings

  const load = Effect.fn("ProductImport.load")(function*(records: ReadonlyArray<NamedProduct>) {
    const mayAttach = holds(yield* CurrentActor, "media:write")
    const state = yield* readProducts(records)
    const asked = yield* Effect.forEach(records, (record) => {
      const stored = state.products.get(record.slug)
      const issues = mediaIssues(record.media, stored?.media ?? [], state.assets, mayAttach)
      return issues.length > 0
        ? Effect.succeed(Result.fail(issues))
        : Effect.map(
          Effect.result(hooks.asked(record, stored)),
          Result.mapError(({ error }) => error.details.issues)
        )
    })
    const fields = yield* readFields(asked.flatMap((one) => {
      if (Result.isFailure(one)) return []
      const { customFields = {}, slug, type = state.products.get(slug)?.entity.type } = one.success
      return type === undefined ? [] : [{ type, fields: customFields }]
    }))
    const written: Array<WrittenProduct> = []
    return { ...state, ...fields, asked, types, uniqueSkus, written }
  })

  return yield* upsertOf(load, (sent, state, draft, index) =>
    Result.gen(function*() {
      const record = yield* state.asked[index] ?? Result.succeed(sent)
      const stored = state.products.get(record.slug)
      const planned = yield* planProduct(record, stored, state, draft)
      if (draft.changes.length > 0) {
        state.written.push(planned)
        draft.after(...hooks.recorded(planned))
      }
      if (record.media !== undefined) planMedia(record.media, planned, stored?.media ?? [], state, draft)
      return stored === undefined ? "new" as const : "stored" as const
    }), ({ written }) => hooks.committed(written))
})

const blank = (
  { slug, type = "" }: ProductRecord,
  { now, organizationId, source, types }: BatchContext & Typed
): CatalogEntity => ({
  id: newId(),
  organizationId,
  sourceStoreId: source,
  type,
  slug,
  status: "draft",
  isVisible: false,
  taxClass: null,
  taxClassId: null,
  manageInventory: policyOf(types, type).manageInventory,
  allowBackorder: false,
  backorderLimit: null,
  metadata: {},
  createdAt: now,
  updatedAt: now,
  publishedAt: null
})

/** Activation also makes the entity visible and published, as in the API. */
const entityAfter = (
  before: CatalogEntity,
  record: Omit<ProductRecord, "taxClass">,
  taxed: Partial<CatalogEntity>,
  now: Date
): CatalogEntity => {
  const { isVisible, metadata, status, type } = record
  const activated = status === "active" && before.status !== "active"
  const base = activated ? { ...before, isVisible: true, publishedAt: now } : before
  const after = withSent(base, {
    ...Struct.pick(record, stockPolicyFields),
    isVisible,
    metadata,
    status,
    type,
    ...taxed
  })
  return Equal.equals(after, before) ? before : { ...after, updatedAt: now }
}

const planTexts = (entityId: EntityId, stored: ReadonlyArray<StoredTexts>, sent: ReadonlyArray<ProductTexts>) => {
  const byLocale = new Map(stored.map((texts) => [texts.locale, texts]))
  const [changed, before]: [Array<StoredTexts>, Array<StoredTexts>] = [[], []]
  for (const [index, { locale = "en", ...texts }] of sent.entries()) {
    const old = byLocale.get(locale)
    if (old === undefined && texts.title === undefined) {
      return refused(`attributes.${index}.title`, "is required the first time a locale is written.", "required")
    }
    const none = { subtitle: null, description: null, richDescription: null, seoTitle: null, seoDescription: null }
    const after = withSent<StoredTexts>(old ?? { id: newId(), entityId, locale, title: "", ...none }, texts)
    if (Equal.equals(after, old)) continue
    byLocale.set(locale, after)
    changed.push(after)
    if (old !== undefined) before.push(old)
  }
  return Result.succeed({ changed, before })
}

const shown = (entity: CatalogEntity, attributes: ReadonlyArray<StoredTexts>, customFields: object | undefined) => ({
  ...entity,
  ...(customFields === undefined ? {} : { customFields }),
  ...(attributes.length === 0 ? {} : { attributes })
})

/**
 * Adds new categories, brands, SKUs, entities and unique values to the state: the next record of the batch finds them.
 */
const planProduct = (
  record: NamedProduct,
  stored: StoredProduct | undefined,
  state: ProductState & FieldState & BatchContext & Typed,
  draft: RowBatch
) =>
  Result.gen(function*() {
    if (stored === undefined && record.type === undefined) {
      return yield* refused("type", "is required for a new record.", "required")
    }
    const old = stored?.entity
    if (record.expected !== undefined && record.expected !== (old?.id ?? null)) {
      return yield* refused(
        "slug",
        "Another request wrote the product of this slug meanwhile. Send it again.",
        "conflict"
      )
    }
    const before = old ?? blank(record, state)
    const taxed = yield* planTaxClass("taxClass", record.taxClass, before, state)
    const changed = entityAfter(before, record, taxed, state.now)
    const texts = yield* planTexts(changed.id, stored?.attributes ?? [], record.attributes ?? [])
    const fields = yield* planFields(changed, stored, record, state)
    const isTouched = texts.changed.length > 0 || fields.isChanged
    const entity = isTouched ? { ...changed, updatedAt: state.now } : changed
    const variants = new RowBatch()
    const findVariant = yield* planVariants(entity, stored, record, state, variants)
    if (entity !== old) {
      const of = { entityType: "catalog_entity", entityId: entity.id } as const
      const payload = shown(entity, texts.changed, fields.after)
      draft.put(tables.entities, entity)
      draft.change(
        old === undefined
          ? { type: "catalog.create", ...of, payload }
          : { type: "catalog.update", ...of, payload, before: shown(old, texts.before, fields.before) }
      )
    }
    draft.put(tables.attributes, ...texts.changed)
    fields.writeTo(draft)
    planLinks("categories", entity.id, stored, record, state, draft)
    planLinks("brands", entity.id, stored, record, state, draft)
    draft.add(variants)
    state.referables.set(entity.slug, entity)
    return { entity, old, findVariant }
  })

const productHooks = (hooks: Hooks["Service"]) => {
  const changed = Effect.fnUntraced(function*(record: NamedProduct, type: string, stored: StoredProduct | undefined) {
    const sent: NewEntity = { type, slug: record.slug, ...given(record) }
    if (stored === undefined) {
      const general = yield* hooks.before("catalog.beforeCreate", sent)
      const after = yield* hooks.before(`catalog.${general.type}.beforeCreate`, general)
      return { ...record, type: after.type, ...given(after) }
    }
    const of = { entityId: stored.entity.id }
    const general = yield* hooks.before("catalog.beforeUpdate", given(record), of)
    return { ...record, ...given(yield* hooks.before(`catalog.${type}.beforeUpdate`, general, of)) }
  })

  const asked = Effect.fnUntraced(function*(record: NamedProduct, stored: StoredProduct | undefined) {
    const type = record.type ?? stored?.entity.type
    if (type === undefined || !hooks.hasAny(beforeHooks)) return record
    const after = yield* changed(record, type, stored)
    const linked = new Set(stored?.categories.map(({ slug }) => slug))
    const categories = after.categories?.filter((slug) => !linked.has(slug)) ?? []
    if (categories.length > 0) {
      const of = { entityId: stored?.entity.id ?? null, categories, metadata: after.metadata ?? null }
      yield* hooks.before("catalog.beforeCategorize", of)
    }
    return after
  })

  /** A refusal here is a bug of the hook: the hooks of each record refuse earlier. */
  const committed = (written: ReadonlyArray<WrittenProduct>) =>
    written.length === 0 || !hooks.has("catalog.beforeCommit")
      ? Effect.void
      : Effect.catchIf(
        hooks.before("catalog.beforeCommit", {
          created: written.flatMap(({ entity, old }) => old === undefined ? [entity] : []),
          updated: written.flatMap(({ entity, old }) => old === undefined ? [] : [{ entity, old }])
        }),
        Schema.is(ValidationFailed),
        Effect.die
      )

  const recorded = ({ entity, old }: WrittenProduct) => {
    const key = old === undefined ? "afterCreate" : "afterUpdate"
    return hooks.hasAny(afterHooks)
      ? [hooks.after(`catalog.${key}`, entity, old), hooks.after(`catalog.${entity.type}.${key}`, entity, old)]
      : []
  }

  return { asked, committed, recorded }
}

const beforeHooks = /^catalog\.(.+\.)?before(Create|Update|Categorize)$/
const afterHooks = /^catalog\.(.+\.)?after(Create|Update)$/

const sentFields = ["status", "metadata", "taxClass", ...stockPolicyFields, "customFields"] as const

/** Drops undefined fields: an absent key keeps the value, and hooks would see undefined as a change. */
const given = (sent: Pick<ProductRecord, typeof sentFields[number]>) =>
  Struct.pick(sent, sentFields.filter((field) => sent[field] !== undefined))
