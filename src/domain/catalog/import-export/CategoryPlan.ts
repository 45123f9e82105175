import { Equal, Result } from "effect"
import type { Issue } from "../../errors/ApiErrors.ts"
import type { Change } from "../../events/Event.ts"
import { newId } from "../../ids/Id.ts"
import type { Category } from "../categories/Category.ts"
import type { CategoryRecord } from "./GroupRecords.ts"

/** The categories that the records of a batch name and all that lie above them, by slug and by id. */
export interface CategoryState {
  readonly bySlug: Map<string, Category>
  readonly byId: Map<string, Category>
}

/** A category as it is to be written, and what the journal tells of it. */
export interface PlannedCategory {
  readonly before: Category | undefined
  readonly after: Category
  readonly changes: ReadonlyArray<Change>
}

const issue = (message: string, code: string): ReadonlyArray<Issue> => [{ path: "parent", message, code }]

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
    return Result.fail(issue("A category cannot lie below itself.", "cycle"))
  }
  return found === undefined
    ? Result.fail(issue(`There is no category '${parent}', here or before it in the file.`, "not_found"))
    : Result.succeed(found.id)
}

/** Its place and its words are one entry, that it was archived or restored is another, as their routes write them. */
const changesOf = (before: Category | undefined, after: Category): ReadonlyArray<Change> => {
  const of = { entityType: "category", entityId: after.id } as const
  if (before === undefined) return [{ type: "categories.create", ...of, payload: after }]
  const kept = { ...after, status: before.status }
  return [
    ...(Equal.equals(kept, before) ? [] : [{ type: "categories.update", ...of, payload: kept, before } as const]),
    ...(after.status === before.status ? [] : [
      {
        type: after.status === "archived" ? "categories.archive" : "categories.restore",
        ...of,
        payload: after,
        before: kept
      } as const
    ])
  ]
}

/** What a record makes of its category; `state` learns it, so that the next record of the batch finds it. */
export const planCategory = (
  record: CategoryRecord,
  state: CategoryState
): Result.Result<PlannedCategory, ReadonlyArray<Issue>> => {
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
  return Result.succeed({ before, after, changes: changesOf(before, after) })
}
