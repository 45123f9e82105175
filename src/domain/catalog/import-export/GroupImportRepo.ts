import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../../access/Actor.ts"
import type { Brand } from "../brands/Brand.ts"
import type { Category } from "../categories/Category.ts"
import { categoryColumns, treeLock } from "../categories/CategoryRowsRepo.ts"
import type { CategoryRecord } from "./GroupRecords.ts"

/** The categories that records name, with their ancestors. */
export interface CategoryState {
  readonly bySlug: Map<string, Category>
  readonly byId: Map<string, Category>
}

/** Reads categories and brands for imports. */
export class GroupImportRepo extends Context.Service<GroupImportRepo, {
  /**
   * Locks the tree until the transaction ends and reads the named categories with their ancestors; three statements.
   */
  readonly categories: (records: ReadonlyArray<CategoryRecord>) => Effect.Effect<CategoryState, never, CurrentActor>
  /** Locks and reads brands by slug; one statement. */
  readonly brands: (slugs: ReadonlyArray<string>) => Effect.Effect<Map<string, Brand>, never, CurrentActor>
}>()("stoa/domain/catalog/import-export/GroupImportRepo") {
  static readonly layer = Layer.effect(GroupImportRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

const make = (sql: SqlClient.SqlClient): GroupImportRepo["Service"] => {
  const categories = Effect.fn("GroupImportRepo.categories")(function*(records: ReadonlyArray<CategoryRecord>) {
    const organization = yield* currentOrganization
    // Lock the tree before any row, like every writer of several categories (`CategoryGuardRepo`).
    yield* treeLock(sql, organization)
    const slugs = records.map(({ slug }) => slug)
    const named = [...slugs, ...records.flatMap(({ parent }) => parent ?? [])]
    yield* sql`select 1 from categories where organization_id = ${organization} and slug = any(${slugs}::text[])
      order by id for no key update`.unprepared
    // One look-up per step, so that the planner never joins over all categories.
    const rows = yield* sql<Category>`with recursive line as (
        select * from categories where organization_id = ${organization} and slug = any(${named}::text[])
        union select c.* from line cross join lateral (select * from categories
          where id = line.parent_id and organization_id = ${organization} limit 1) c)
      select ${sql.literal(categoryColumns)} from line`.unprepared
    return {
      bySlug: new Map(rows.map((category) => [category.slug, category])),
      byId: new Map(rows.map((category) => [category.id, category]))
    }
  }, Effect.orDie)

  const brands = Effect.fn("GroupImportRepo.brands")(function*(slugs: ReadonlyArray<string>) {
    const organization = yield* currentOrganization
    const rows = yield* sql<Brand>`select id, organization_id as "organizationId", slug,
        display_name as "displayName", metadata from brands
      where organization_id = ${organization} and slug = any(${slugs}::text[]) order by id for no key update`.unprepared
    return new Map(rows.map((brand) => [brand.slug, { ...brand }]))
  }, Effect.orDie)

  return { categories, brands }
}
