import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import { Conflict } from "../errors/ApiErrors.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import { type RecordRepo, recordRepo } from "../records/RecordRepo.ts"
import { Table } from "../records/Table.ts"
import { findCandidates, type PromotionCandidate } from "./CandidateRepo.ts"
import { Promotion, type PromotionStatus } from "./Promotion.ts"

export const promotions = new Table("promotions", Promotion, { casts: { value: "float8" } })

/** All SQL of promotions. `insert` and `change` fail if another promotion has the code. */
export class PromotionRepo extends Context.Service<
  PromotionRepo,
  Pick<RecordRepo<Promotion, Conflict>, "insert" | "change"> & {
    /** A page by priority, then id. */
    readonly list: (
      status: PromotionStatus,
      now: Date,
      page: PageRequest
    ) => Effect.Effect<PageOf<Promotion>, never, CurrentActor>
    /**
     * The promotions of these codes in any state, and the automatic ones that are active and have not ended, in one
     * statement. Usage is the higher count of the profile and the e-mail address. Codes ignore case.
     */
    readonly candidates: (
      codes: ReadonlyArray<string>,
      customerId: string | null,
      email: string | null
    ) => Effect.Effect<ReadonlyArray<PromotionCandidate>, never, CurrentActor>
    /** Slugs of the categories an entity is in, by entity id; absent when it is in none. */
    readonly categorySlugs: (
      entityIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<string>>, never, CurrentActor>
  }
>()("stoa/domain/promotions/PromotionRepo") {}

const inStatus = (sql: SqlClient.SqlClient, status: PromotionStatus, now: Date): ReadonlyArray<Statement.Fragment> => {
  switch (status) {
    case "active":
      return [
        sql`is_active and (valid_from is null or valid_from <= ${now}::timestamptz)
          and (valid_until is null or valid_until >= ${now}::timestamptz)`
      ]
    case "inactive":
      return [sql`not is_active`]
    case "expired":
      return [sql`valid_until < ${now}::timestamptz`]
    case "scheduled":
      return [sql`is_active and valid_from > ${now}::timestamptz`]
    case "all":
      return []
  }
}

/** The one unique key a request can collide with is the code; ids are our own. */
const orTaken = (error: SqlError.SqlError) =>
  error.reason._tag === "UniqueViolation"
    ? Effect.fail(Conflict.of("A promotion with this code already exists."))
    : Effect.die(error)

/** `PromotionRepo` over the database of the process. */
export const promotionRepoLayer = Layer.effect(
  PromotionRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const records = recordRepo(sql, {
      table: promotions,
      order: "priority, id",
      entityType: "promotion",
      changes: { create: "promotions.create", update: "promotions.update", delete: "promotions.update" }
    }, orTaken)

    const list = (status: PromotionStatus, now: Date, page: PageRequest) =>
      records.list(page, inStatus(sql, status, now))

    const candidates = yield* findCandidates

    const categorySlugs = Effect.fn("PromotionRepo.categorySlugs")(function*(entityIds: ReadonlyArray<string>) {
      const organization = yield* currentOrganization
      const rows = yield* sql<{ readonly entity_id: string; readonly slugs: ReadonlyArray<string> }>`select
          ec.entity_id, array_agg(c.slug) as slugs
        from entity_categories_read ec join categories_read c on c.id = ec.category_id
        where ec.entity_id = any(${[...new Set(entityIds)]}::uuid[]) and ec.organization_id = ${organization}
        group by ec.entity_id`
      return new Map(rows.map((row) => [row.entity_id, row.slugs]))
    }, Effect.orDie)

    return PromotionRepo.of({ insert: records.insert, change: records.change, list, candidates, categorySlugs })
  })
)
