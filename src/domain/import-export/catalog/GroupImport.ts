import { Effect, Equal, Result, Schema } from "effect"
import { type Brand, BrandChange } from "../../catalog/brands/Brand.ts"
import { brands } from "../../catalog/brands/BrandRepo.ts"
import { Category, NewCategory } from "../../catalog/categories/Category.ts"
import { categories } from "../../catalog/categories/CategoryRepo.ts"
import { Slug } from "../../catalog/Entity.ts"
import { RowBatchRepo } from "../../platform/batching/RowBatchRepo.ts"
import type { Issue } from "../../platform/errors/ApiErrors.ts"
import type { Change } from "../../platform/events/Event.ts"
import { type CategoryId, newId } from "../../platform/ids/Id.ts"
import { withSent } from "../../platform/resources/RecordService.ts"
import { refused, upsertOf } from "../Upsert.ts"
import { categoryReads, type CategoryState } from "./CatalogImportRepo.ts"

/** A category, identified by slug, below `parent` (null: a root). Absent keys keep the stored value. */
export const CategoryRecord = Schema.Struct({
  slug: Slug,
  parent: Schema.optional(Schema.NullOr(Slug)),
  sortOrder: NewCategory.fields.sortOrder,
  status: Schema.optional(Category.fields.status),
  metadata: NewCategory.fields.metadata
}).annotate({ identifier: "CategoryRecord" })
export type CategoryRecord = typeof CategoryRecord.Type

/** A brand, identified by slug, which is the default of its name. */
export const BrandRecord = Schema.Struct({ ...BrandChange.fields, slug: Slug }).annotate({ identifier: "BrandRecord" })
export type BrandRecord = typeof BrandRecord.Type

export const blankCategory = (slug: string): Category => ({
  id: newId(),
  parentId: null,
  slug,
  sortOrder: 0,
  status: "active",
  metadata: {}
})

export const blankBrand = (slug: string, organizationId: string): Brand => ({
  id: newId(),
  organizationId,
  slug,
  displayName: slug,
  metadata: {}
})

export const categoryImport = Effect.flatMap(
  categoryReads,
  (read) =>
    upsertOf(read, ({ parent, ...sent }: CategoryRecord, state, draft) => {
      const before = state.bySlug.get(sent.slug)
      return Result.map(parentOf(state, parent, sent.slug, before), (parentId) => {
        const after = withSent(before ?? blankCategory(sent.slug), { ...sent, parentId })
        state.bySlug.set(after.slug, after)
        state.byId.set(after.id, after)
        draft.change(...categoryChanges(before, after))
        if (draft.changes.length > 0) draft.put(categories, after)
        return before === undefined ? "new" : "stored"
      })
    })
)

export const brandImport = Effect.flatMap(RowBatchRepo, (rows) =>
  upsertOf(
    (records: ReadonlyArray<BrandRecord>) =>
      Effect.map(
        rows.find(brands, "slug", records.map(({ slug }) => slug), "no key update"),
        (stored) => ({ stored: new Map(stored.map((brand) => [brand.slug, brand])) })
      ),
    (sent, { organizationId, stored }, draft) => {
      const before = stored.get(sent.slug)
      const after = withSent(before ?? blankBrand(sent.slug, organizationId), sent)
      if (!Equal.equals(before, after)) {
        const type = before === undefined ? "brands.create" : "brands.update"
        draft.put(brands, after)
        draft.change({ type, entityType: "brand", entityId: after.id, payload: after, before: before ?? null })
      }
      return Result.succeed(before === undefined ? "new" : "stored")
    }
  ))

const isBelow = (state: CategoryState, from: Category, id: CategoryId): boolean => {
  for (let at: Category | undefined = from; at !== undefined;) {
    if (at.id === id) return true
    at = at.parentId === null ? undefined : state.byId.get(at.parentId)
  }
  return false
}

const parentOf = (
  state: CategoryState,
  parent: string | null | undefined,
  slug: string,
  before: Category | undefined
): Result.Result<CategoryId | null, ReadonlyArray<Issue>> => {
  if (parent === undefined) return Result.succeed(before?.parentId ?? null)
  if (parent === null) return Result.succeed(null)
  const found = state.bySlug.get(parent)
  if (parent === slug || (found !== undefined && before !== undefined && isBelow(state, found, before.id))) {
    return refused("parent", "parent must not be the category or one below it.", "cycle")
  }
  return found === undefined
    ? refused("parent", `parent names no category, here or before it in the file: '${parent}'.`, "not_found")
    : Result.succeed(found.id)
}

const categoryChanges = (before: Category | undefined, after: Category): ReadonlyArray<Change> => {
  const of = { entityType: "category", entityId: after.id } as const
  if (before === undefined) return [{ type: "categories.create", ...of, payload: after }]
  const kept = { ...after, status: before.status }
  const changes: Array<Change> = []
  if (!Equal.equals(kept, before)) changes.push({ type: "categories.update", ...of, payload: kept, before })
  if (after.status !== before.status) {
    const type = after.status === "archived" ? "categories.archive" : "categories.restore"
    changes.push({ type, ...of, payload: after, before: kept })
  }
  return changes
}
