import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import * as GroupCommit from "../platform/batching/GroupCommitRepo.ts"
import { lookupSql } from "../platform/database/DatabaseRepo.ts"
import { conflict } from "../platform/errors/ErrorKinds.ts"
import type { CustomerId, EntityId } from "../platform/ids/Id.ts"
import type { PageOf, PageRequest } from "../platform/paging/Paging.ts"
import { refusedBy } from "../platform/records/Constraints.ts"
import { decoding } from "../platform/records/Rows.ts"
import { Table } from "../platform/records/Table.ts"
import { type RecordRepo, recordRepo } from "../platform/resources/RecordRepo.ts"
import { type PromotionCandidate, type PromotionQuestion, promotionsSql, toPromotions } from "./CandidateStatements.ts"
import { Promotion, type PromotionStatus } from "./Promotion.ts"
import { normalizeCodes } from "./PromotionRules.ts"

export const promotions = new Table("promotions", Promotion, { casts: { value: "float8" } })

class CodeTaken extends conflict("CodeTaken", "A promotion with this code already exists.") {}

const Slugs = Schema.Struct({ entityId: Schema.String, slugs: Schema.Array(Schema.String) })

const findCandidates = Effect.gen(function*() {
  const lookup = yield* lookupSql
  const found = promotionsSql({
    organization: "i.organization",
    codes: "i.codes",
    customer: "i.customer",
    email: "i.email",
    now: "i.now"
  })

  const findAll = (questions: ReadonlyArray<PromotionQuestion>) =>
    Effect.map(
      lookup<{ readonly promotions: unknown }>`select ${lookup.literal(found)} as promotions
        from jsonb_to_recordset(${JSON.stringify(questions.map((one, n) => ({ ...one, n })))}::jsonb)
          as i(n int, organization text, codes text[], customer uuid, email text, now timestamptz) order by i.n`,
      (rows) => rows.map(({ promotions }) => toPromotions(promotions))
    )

  const finding = yield* GroupCommit.make<PromotionQuestion, ReadonlyArray<PromotionCandidate>>({
    name: "promotions.candidates",
    together: findAll,
    alone: (question) => Effect.map(findAll([question]), ([found]) => found ?? [])
  })

  return Effect.fn("PromotionRepo.candidates")(
    function*(codes: ReadonlyArray<string>, customer: string | null, email: string | null) {
      const now = DateTime.toDateUtc(yield* DateTime.now)
      return yield* finding({
        organization: yield* currentOrganization,
        codes: normalizeCodes(codes),
        customer,
        email,
        now
      })
    },
    Effect.orDie
  )
})

/** Promotions. `insert` and `change` fail if another promotion has the code. */
export class PromotionRepo extends Context.Service<
  PromotionRepo,
  Pick<RecordRepo<Promotion, CodeTaken>, "insert" | "change"> & {
    readonly list: (
      status: PromotionStatus,
      now: Date,
      page: PageRequest
    ) => Effect.Effect<PageOf<Promotion>, never, CurrentActor>
    readonly candidates: (
      codes: ReadonlyArray<string>,
      customerId: CustomerId | null,
      email: string | null
    ) => Effect.Effect<ReadonlyArray<PromotionCandidate>, never, CurrentActor>
    readonly categorySlugs: (
      entityIds: ReadonlyArray<EntityId>
    ) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<string>>, never, CurrentActor>
  }
>()("stoa/domain/promotions/PromotionRepo") {}

const inStatus = (sql: SqlClient.SqlClient, status: PromotionStatus, now: Date): ReadonlyArray<Statement.Fragment> => {
  switch (status) {
    case "active":
      return [
        sql`is_active and (valid_from is null or valid_from <= ${now}::timestamptz)
          and (valid_until is null or valid_until > ${now}::timestamptz)`
      ]
    case "inactive":
      return [sql`not is_active`]
    case "expired":
      return [sql`valid_until <= ${now}::timestamptz`]
    case "scheduled":
      return [sql`is_active and valid_from > ${now}::timestamptz`]
    case "all":
      return []
  }
}

const orTaken = refusedBy({ promotions_code: () => new CodeTaken() })

export const promotionRepoLayer = Layer.effect(
  PromotionRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const records = recordRepo(sql, {
      table: promotions,
      order: "priority, id",
      counted: "all",
      entityType: "promotion",
      changes: { create: "promotions.create", update: "promotions.update", delete: "promotions.update" }
    }, orTaken)

    const list = (status: PromotionStatus, now: Date, page: PageRequest) =>
      records.list(page, inStatus(sql, status, now))

    const candidates = yield* findCandidates

    const categorySlugs = Effect.fn("PromotionRepo.categorySlugs")(function*(entityIds: ReadonlyArray<EntityId>) {
      const organization = yield* currentOrganization
      const rows = yield* decoding(sql, Slugs)`select ec.entity_id as "entityId", array_agg(c.slug) as slugs
        from entity_categories_read ec join categories_read c on c.id = ec.category_id
        where ec.entity_id = any(${[...new Set(entityIds)]}::uuid[]) and ec.organization_id = ${organization}
        group by ec.entity_id`
      return new Map(rows.map(({ entityId, slugs }) => [entityId, slugs]))
    }, Effect.orDie)

    return PromotionRepo.of({ insert: records.insert, change: records.change, list, candidates, categorySlugs })
  })
)
