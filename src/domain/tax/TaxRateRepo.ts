import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { Conflict } from "../errors/ApiErrors.ts"
import type { Change } from "../events/Event.ts"
import { journalInsert } from "../events/JournalRepo.ts"
import { deleteTold } from "../events/ToldDeletionRepo.ts"
import { mark } from "../idempotency/MarkRepo.ts"
import { ownPage } from "../paging/OwnPageRepo.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import type { TaxRate } from "./TaxRate.ts"

interface RateRow {
  readonly id: string
  readonly organization_id: string
  readonly name: string
  readonly country: string
  readonly state: string | null
  readonly rate_bps: number
  readonly applies_to_shipping: boolean
  readonly priority: number
  readonly is_active: boolean
  readonly metadata: TaxRate["metadata"]
  readonly created_at: Date
  readonly updated_at: Date
}

const toRate = (row: RateRow): TaxRate => ({
  id: row.id,
  organizationId: row.organization_id,
  name: row.name,
  country: row.country,
  state: row.state,
  rateBps: row.rate_bps,
  appliesToShipping: row.applies_to_shipping,
  priority: row.priority,
  isActive: row.is_active,
  metadata: row.metadata,
  createdAt: row.created_at,
  updatedAt: row.updated_at
})

/** All SQL of the rates of regions. Every change writes its entry of the journal in its own transaction. */
export class TaxRateRepo extends Context.Service<TaxRateRepo, {
  readonly find: (id: string) => Effect.Effect<TaxRate | undefined, never, CurrentActor>
  /** A page by priority, then in the order in which they were made; in two statements. */
  readonly list: (page: PageRequest) => Effect.Effect<PageOf<TaxRate>, never, CurrentActor>
  /** Writes a new rate; 409 when its region has one of this name. */
  readonly insert: (made: TaxRate) => Effect.Effect<void, Conflict, CurrentActor>
  /**
   * Changes a rate by a rule that sees it as it stands, with the row locked; a rule that changes nothing writes nothing.
   * Undefined for an unknown one; 409 when its region has one of this name.
   */
  readonly change: (
    id: string,
    rule: (before: TaxRate) => TaxRate
  ) => Effect.Effect<TaxRate | undefined, Conflict, CurrentActor>
  /** Deletes a rate; false for an unknown one. */
  readonly remove: (id: string) => Effect.Effect<boolean, never, CurrentActor>
}>()("stoa/domain/tax/TaxRateRepo") {}

const told = (
  type: Extract<Change["type"], `taxRates.${string}`>,
  payload: TaxRate,
  before: TaxRate | null
): Change => ({ type, entityType: "tax_rate", entityId: payload.id, payload, before })

const orTaken = (error: SqlError.SqlError) =>
  error.reason._tag === "UniqueViolation"
    ? Effect.fail(Conflict.of("A tax rate with this name already exists in this region."))
    : Effect.die(error)

const writing = (sql: SqlClient.SqlClient) => {
  const insert = Effect.fn("TaxRateRepo.insert")(function*(r: TaxRate) {
    const actor = yield* CurrentActor
    yield* sql`with event as (${journalInsert(sql, actor, [told("taxRates.create", r, null)])})${mark(sql, actor)}
      insert into tax_rates (id, organization_id, name, country, state, rate_bps, applies_to_shipping, priority, is_active,
        metadata, created_at, updated_at)
      values (${r.id}::uuid, ${actor.organizationId}, ${r.name}, ${r.country}, ${r.state}, ${r.rateBps},
        ${r.appliesToShipping}, ${r.priority}, ${r.isActive}, ${JSON.stringify(r.metadata)}::jsonb,
        ${r.createdAt}::timestamptz, ${r.updatedAt}::timestamptz)`
  }, Effect.catchTag("SqlError", orTaken))

  const change = Effect.fn("TaxRateRepo.change")(
    function*(id: string, rule: (before: TaxRate) => TaxRate) {
      const actor = yield* CurrentActor
      const [row] = yield* sql<RateRow>`select * from tax_rates
        where id = ${id}::uuid and organization_id = ${actor.organizationId} for update`
      if (row === undefined) return undefined
      const before = toRate(row)
      const r = rule(before)
      if (r === before) return r
      yield* sql`with event as (${journalInsert(sql, actor, [told("taxRates.update", r, before)])})${mark(sql, actor)}
        update tax_rates set name = ${r.name}, country = ${r.country}, state = ${r.state}, rate_bps = ${r.rateBps},
          applies_to_shipping = ${r.appliesToShipping}, priority = ${r.priority}, is_active = ${r.isActive},
          metadata = ${JSON.stringify(r.metadata)}::jsonb, updated_at = ${r.updatedAt}::timestamptz
        where id = ${id}::uuid and organization_id = ${actor.organizationId}`
      return r
    },
    sql.withTransaction,
    Effect.catchTag("SqlError", orTaken)
  )

  const remove = Effect.fn("TaxRateRepo.remove")((id: string) =>
    deleteTold(sql, "tax_rates", id, (row: RateRow) => told("taxRates.delete", toRate(row), toRate(row))).pipe(
      Effect.map((gone) => gone !== undefined),
      Effect.orDie
    )
  )

  return { insert, change, remove }
}

/** `TaxRateRepo` over the database of the process. */
export const taxRateRepoLayer = Layer.effect(
  TaxRateRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const find = Effect.fn("TaxRateRepo.find")(function*(id: string) {
      const [row] = yield* sql<RateRow>`select * from tax_rates
        where id = ${id}::uuid and organization_id = ${yield* currentOrganization}`
      return row && toRate(row)
    }, Effect.orDie)

    const rows = { table: "tax_rates", order: "priority, id", toRecord: toRate }
    const list = Effect.fn("TaxRateRepo.list")((page: PageRequest) => Effect.orDie(ownPage(sql, rows, page)))

    return TaxRateRepo.of({ find, list, ...writing(sql) })
  })
)
