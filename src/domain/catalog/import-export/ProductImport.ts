import { Effect, Equal, Result } from "effect"
import { CurrentActor, holds } from "../../access/Actor.ts"
import { RowBatch } from "../../batching/RowBatch.ts"
import { Hooks } from "../../hooks/Hooks.ts"
import { newId } from "../../ids/Id.ts"
import { type BatchContext, overlay, refused, upsertOf } from "../../import-export/Upsert.ts"
import type { CatalogEntity } from "../Entity.ts"
import { brandsTable, categoriesTable } from "./GroupImport.ts"
import { planFields } from "./ProductFields.ts"
import { productHooks, type WrittenProduct } from "./ProductHooks.ts"
import {
  fieldReads,
  type FieldState,
  productReads,
  type ProductState,
  productTables as tables,
  type StoredProduct,
  type StoredTexts
} from "./ProductImportRepo.ts"
import { mediaIssues, planMedia } from "./ProductMedia.ts"
import type { ProductRecord, ProductTexts } from "./ProductRecord.ts"
import { planVariants } from "./ProductVariants.ts"

/**
 * Imports products: merges each record into the entity of its slug, or creates it (docs/import-export.md). Slugs must be
 * unique within a batch.
 */
export const productImport = Effect.gen(function*() {
  const readProducts = yield* productReads
  const readFields = yield* fieldReads
  const hooks = productHooks(yield* Hooks)

  const load = Effect.fn("ProductImport.load")(function*(records: ReadonlyArray<ProductRecord>) {
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
    return { ...state, ...fields, asked, written }
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

const blank = ({ slug, type = "" }: ProductRecord, { now, organizationId }: BatchContext): CatalogEntity => ({
  id: newId(),
  organizationId,
  sourceStoreId: null,
  type,
  slug,
  status: "draft",
  isVisible: false,
  taxClass: null,
  metadata: {},
  createdAt: now,
  updatedAt: now,
  publishedAt: null
})

/** The entity after the record. Activation also makes it visible and published, as in the API. */
const entityAfter = (before: CatalogEntity, record: ProductRecord, now: Date): CatalogEntity => {
  const { isVisible, metadata, status, taxClass, type } = record
  const activated = status === "active" && before.status !== "active"
  const base = activated ? { ...before, isVisible: true, publishedAt: now } : before
  const after = overlay(base, { isVisible, metadata, status, taxClass, type })
  return Equal.equals(after, before) ? before : { ...after, updatedAt: now }
}

interface PlannedTexts {
  readonly changed: ReadonlyArray<StoredTexts>
  readonly before: ReadonlyArray<StoredTexts>
}

const planTexts = (entityId: string, stored: ReadonlyArray<StoredTexts>, sent: ReadonlyArray<ProductTexts>) => {
  const byLocale = new Map(stored.map((texts) => [texts.locale, texts]))
  const [changed, before]: [Array<StoredTexts>, Array<StoredTexts>] = [[], []]
  for (const [index, { locale = "en", ...texts }] of sent.entries()) {
    const old = byLocale.get(locale)
    if (old === undefined && texts.title === undefined) {
      return refused(`attributes.${index}.title`, "is required the first time a locale is written")
    }
    const none = { subtitle: null, description: null, richDescription: null, seoTitle: null, seoDescription: null }
    const after = overlay<StoredTexts>(old ?? { id: newId(), entityId, locale, title: "", ...none }, texts)
    if (Equal.equals(after, old)) continue
    byLocale.set(locale, after)
    changed.push(after)
    if (old !== undefined) before.push(old)
  }
  return Result.succeed<PlannedTexts>({ changed, before })
}

/** An entity in the change log: one entry for all changed fields. */
const shown = (entity: CatalogEntity, attributes: ReadonlyArray<StoredTexts>, customFields: object | undefined) => ({
  ...entity,
  ...(customFields === undefined ? {} : { customFields }),
  ...(attributes.length === 0 ? {} : { attributes })
})

/**
 * Plans the changes of a record against the stored state. Adds new categories, brands, SKUs, entities and unique values
 * to the state, so that the next record of the batch finds them.
 */
const planProduct = (
  record: ProductRecord,
  stored: StoredProduct | undefined,
  state: ProductState & FieldState & BatchContext,
  draft: RowBatch
) =>
  Result.gen(function*() {
    if (stored === undefined && record.type === undefined) return yield* refused("type", "is required for a new record")
    const old = stored?.entity
    const changed = entityAfter(old ?? blank(record, state), record, state.now)
    const texts = yield* planTexts(changed.id, stored?.attributes ?? [], record.attributes ?? [])
    const fields = yield* planFields(changed, stored, record, state)
    const isTouched = texts.changed.length > 0 || fields.isChanged
    const entity = isTouched ? { ...changed, updatedAt: state.now } : changed
    const variants = new RowBatch()
    const findVariant = yield* planVariants(entity, stored, record, state.skus, variants)
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

/** What links of products lead to; a missing category is created as a root, a brand with the slug as its name. */
const groups = {
  categories: { subject: "category", key: "categoryId", table: categoriesTable },
  brands: { subject: "brand", key: "brandId", table: brandsTable }
} as const

const newGroup = (name: keyof typeof groups, slug: string, organizationId: string) =>
  name === "categories"
    ? { id: newId(), parentId: null, slug, sortOrder: 0, status: "active", metadata: {} }
    : { id: newId(), organizationId, slug, displayName: slug, metadata: {} }

/** Replaces the categories or brands of the entity by those of a record; an absent key keeps them. */
const planLinks = (
  name: keyof typeof groups,
  entityId: string,
  stored: StoredProduct | undefined,
  { [name]: wanted }: ProductRecord,
  state: ProductState & BatchContext,
  draft: RowBatch
): void => {
  if (wanted === undefined) return
  const { key, subject, table } = groups[name]
  const of = { entityType: "catalog_entity", entityId } as const
  const before = stored?.[name] ?? []
  const linked = new Set(before.map(({ slug }) => slug))
  for (const slug of new Set(wanted)) {
    if (linked.has(slug)) continue
    if (!state[name].has(slug)) {
      const payload = newGroup(name, slug, state.organizationId)
      state[name].set(slug, payload.id)
      draft.put(table, payload)
      draft.change({ type: `${name}.create`, entityType: subject, entityId: payload.id, payload })
    }
    const payload = { entityId, [key]: state[name].get(slug) }
    draft.put(tables[name], { ...payload, sortOrder: 0 })
    draft.change({ type: `${name}.link`, ...of, payload })
  }
  for (const { id } of before.filter(({ slug }) => !wanted.includes(slug))) {
    const link = { entityId, [key]: id }
    draft.remove(tables[name], link)
    draft.change({ type: `${name}.unlink`, ...of, payload: { ...link, deleted: true }, before: link })
  }
}
