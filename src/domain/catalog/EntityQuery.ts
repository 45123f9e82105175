import { Effect } from "effect"
import { ValidationFailed } from "../errors/ApiErrors.ts"
import type { PageRequest } from "../paging/Paging.ts"
import type { Include } from "./Expansion.ts"

/** Filters and order of a list of entities (contract §1.2, GET /catalog/entities). */
export interface EntityQuery extends PageRequest {
  readonly type?: string | undefined
  /** An unknown status matches nothing. */
  readonly status?: string | undefined
  /** Id or slug; 422 for an unknown one. */
  readonly category?: string | undefined
  /** Include entities of the descendants of `category`. */
  readonly descendants?: boolean | undefined
  /** Id or slug; 422 for an unknown one. */
  readonly brand?: string | undefined
  readonly sort: EntitySort
  /** Attributes of the first locale of its chain that has any, instead of all. */
  readonly locale?: string | undefined
  readonly include: ReadonlyArray<Include>
  /** Only these entities; set by the hook `catalog.beforeList`, never by a request. */
  readonly ids?: ReadonlyArray<string> | undefined
}

export type EntitySortField = "createdAt" | "updatedAt" | "slug"

/** The order of a list of entities; ties are broken by id. */
export interface EntitySort {
  readonly field: EntitySortField
  readonly ascending: boolean
}

const isSortField = (text: string): text is EntitySortField =>
  text === "createdAt" || text === "updatedAt" || text === "slug"

/**
 * The `sort` parameter, `field:direction`: newest first when absent, any direction but `asc` descends, 422 for a field
 * that cannot be sorted by (contract §1.2).
 */
export const sortOf = (text: string | undefined): Effect.Effect<EntitySort, ValidationFailed> => {
  if (text === undefined || text === "") return Effect.succeed({ field: "createdAt", ascending: false })
  const [field = "", direction] = text.split(":")
  return isSortField(field)
    ? Effect.succeed({ field, ascending: direction === "asc" })
    : Effect.fail(ValidationFailed.of("sort", "must be createdAt, updatedAt or slug, with :asc or :desc"))
}
