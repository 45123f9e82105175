import { Context, Effect, Equal, Layer, Result } from "effect"
import { currentOrganization } from "../../access/Actor.ts"
import type { Issue } from "../../errors/ApiErrors.ts"
import type { Change } from "../../events/Event.ts"
import { newId } from "../../ids/Id.ts"
import type { ImportTable } from "../../import-export/ImportBatch.ts"
import { refused, type Upsert, upsertOf } from "../../import-export/Upsert.ts"
import type { Brand } from "../brands/Brand.ts"
import type { Category } from "../categories/Category.ts"
import { type CategoryState, GroupImportRepo } from "./GroupImportRepo.ts"
import type { BrandRecord, CategoryRecord } from "./GroupRecords.ts"

/** Categories to write; the guard of the tree runs after the statement, so that parents may be new. */
export const categoriesTable: ImportTable = {
  name: "categories",
  columns: { id: "uuid", parentId: "uuid", slug: "text", sortOrder: "int", status: "text", metadata: "jsonb" },
  key: "id"
}

/** Brands to write. */
export const brandsTable: ImportTable = {
  name: "brands",
  columns: { id: "uuid", slug: "text", displayName: "text", metadata: "jsonb" },
  key: "id"
}

/** Imports categories and brands. */
export class GroupImport extends Context.Service<GroupImport, {
  readonly categories: Upsert<CategoryRecord>
  readonly brands: Upsert<BrandRecord>
}>()("stoa/domain/catalog/import-export/GroupImport") {
  static readonly layer = Layer.effect(
    GroupImport,
    Effect.gen(function*() {
      const repo = yield* GroupImportRepo

      const categories = yield* upsertOf(repo.categories, (record: CategoryRecord, state, draft) => {
        const before = state.bySlug.get(record.slug)
        const parentId = parentOf(state, record, before)
        if (Result.isFailure(parentId)) return Result.fail(parentId.failure)
        const after: Category = {
          id: before?.id ?? newId(),
          parentId: parentId.success,
          slug: record.slug,
          sortOrder: record.sortOrder ?? before?.sortOrder ?? 0,
          status: record.status ?? before?.status ?? "active",
          metadata: record.metadata ?? before?.metadata ?? {}
        }
        state.bySlug.set(after.slug, after)
        state.byId.set(after.id, after)
        const changes = categoryChanges(before, after)
        if (changes.length > 0) draft.put(categoriesTable, after)
        draft.change(...changes)
        return Result.succeed(before === undefined ? "new" : "known")
      })

      const loadBrands = Effect.fnUntraced(function*(records: ReadonlyArray<BrandRecord>) {
        const organizationId = yield* currentOrganization
        return { organizationId, stored: yield* repo.brands(records.map(({ slug }) => slug)) }
      })

      const brands = yield* upsertOf(
        loadBrands,
        ({ displayName, metadata, slug }, { organizationId, stored }, draft) => {
          const before = stored.get(slug)
          const after: Brand = {
            id: before?.id ?? newId(),
            organizationId,
            slug,
            displayName: displayName ?? before?.displayName ?? slug,
            metadata: metadata ?? before?.metadata ?? {}
          }
          if (Equal.equals(before, after)) return Result.succeed("known")
          const entry = { entityType: "brand", entityId: after.id, payload: after } as const
          draft.put(brandsTable, after)
          draft.change(
            before === undefined ? { type: "brands.create", ...entry } : { type: "brands.update", ...entry, before }
          )
          return Result.succeed(before === undefined ? "new" : "known")
        }
      )

      return { categories, brands }
    })
  )
}

const isBelow = (state: CategoryState, from: Category, id: string): boolean => {
  for (let at: Category | undefined = from; at !== undefined;) {
    if (at.id === id) return true
    at = at.parentId === null ? undefined : state.byId.get(at.parentId)
  }
  return false
}

const parentOf = (
  state: CategoryState,
  { parent, slug }: CategoryRecord,
  before: Category | undefined
): Result.Result<string | null, ReadonlyArray<Issue>> => {
  if (parent === undefined) return Result.succeed(before?.parentId ?? null)
  if (parent === null) return Result.succeed(null)
  const found = state.bySlug.get(parent)
  if (parent === slug || (found !== undefined && before !== undefined && isBelow(state, found, before.id))) {
    return refused("parent", "A category cannot lie below itself.", "cycle")
  }
  return found === undefined
    ? refused("parent", `There is no category '${parent}', here or before it in the file.`, "not_found")
    : Result.succeed(found.id)
}

/** Fields are one entry and a change of status is another, as in the API. */
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
