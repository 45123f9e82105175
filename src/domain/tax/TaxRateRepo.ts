import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { Conflict } from "../errors/ApiErrors.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import type { Change } from "../events/Event.ts"
import { deleteRecorded } from "../events/RecordedDeletionRepo.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { columnsOf } from "../modules/RecordColumns.ts"
import { ownPage } from "../paging/OwnPageRepo.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import { TaxRate } from "./TaxRate.ts"

/** Tax rates of regions. Every change writes its change log entry in the same transaction. */
export class TaxRateRepo extends Context.Service<TaxRateRepo, {
  readonly find: (id: string) => Effect.Effect<TaxRate | undefined, never, CurrentActor>
  /** A page by priority, then creation, in two statements. */
  readonly list: (page: PageRequest) => Effect.Effect<PageOf<TaxRate>, never, CurrentActor>
  /** Inserts a rate; 409 when its region has a rate of this name. */
  readonly insert: (made: TaxRate) => Effect.Effect<void, Conflict, CurrentActor>
  /**
   * Changes a rate by a rule that gets the locked row. A rule without a change writes nothing. Undefined for an unknown
   * one; 409 if its region has a rate of this name.
   */
  readonly change: (
    id: string,
    rule: (before: TaxRate) => TaxRate
  ) => Effect.Effect<TaxRate | undefined, Conflict, CurrentActor>
  /** Deletes a rate; false for an unknown id. */
  readonly remove: (id: string) => Effect.Effect<boolean, never, CurrentActor>
}>()("stoa/domain/tax/TaxRateRepo") {}

const source = { table: "tax_rates", columns: columnsOf(TaxRate.fields), order: "priority, id" }

const toChange = (
  type: Extract<Change["type"], `taxRates.${string}`>,
  payload: TaxRate,
  before: TaxRate | null
): Change => ({ type, entityType: "tax_rate", entityId: payload.id, payload, before })

const orConflict = (error: SqlError.SqlError) =>
  error.reason._tag === "UniqueViolation"
    ? Effect.fail(Conflict.of("A tax rate with this name already exists in this region."))
    : Effect.die(error)

const writing = (sql: SqlClient.SqlClient) => {
  const insert = Effect.fn("TaxRateRepo.insert")(function*(r: TaxRate) {
    const actor = yield* CurrentActor
    yield* sql`with event as (${changeLogInsert(sql, actor, [toChange("taxRates.create", r, null)])})${
      idempotencyRecord(sql, actor)
    }
      insert into tax_rates (id, organization_id, name, country, state, rate_bps, applies_to_shipping, priority, is_active,
        metadata, created_at, updated_at)
      values (${r.id}::uuid, ${actor.organizationId}, ${r.name}, ${r.country}, ${r.state}, ${r.rateBps},
        ${r.appliesToShipping}, ${r.priority}, ${r.isActive}, ${JSON.stringify(r.metadata)}::jsonb,
        ${r.createdAt}::timestamptz, ${r.updatedAt}::timestamptz)`
  }, Effect.catchTag("SqlError", orConflict))

  const change = Effect.fn("TaxRateRepo.change")(
    function*(id: string, rule: (before: TaxRate) => TaxRate) {
      const actor = yield* CurrentActor
      const [before] = yield* sql<TaxRate>`select ${sql.literal(source.columns)} from tax_rates
        where id = ${id}::uuid and organization_id = ${actor.organizationId} for update`
      if (before === undefined) return undefined
      const r = rule(before)
      if (r === before) return r
      yield* sql`with event as (${changeLogInsert(sql, actor, [toChange("taxRates.update", r, before)])})${
        idempotencyRecord(sql, actor)
      }
        update tax_rates set name = ${r.name}, country = ${r.country}, state = ${r.state}, rate_bps = ${r.rateBps},
          applies_to_shipping = ${r.appliesToShipping}, priority = ${r.priority}, is_active = ${r.isActive},
          metadata = ${JSON.stringify(r.metadata)}::jsonb, updated_at = ${r.updatedAt}::timestamptz
        where id = ${id}::uuid and organization_id = ${actor.organizationId}`
      return r
    },
    sql.withTransaction,
    Effect.catchTag("SqlError", orConflict)
  )

  const remove = Effect.fn("TaxRateRepo.remove")((id: string) =>
    deleteRecorded(sql, source, id, (deleted: TaxRate) => toChange("taxRates.delete", deleted, deleted)).pipe(
      Effect.map((deleted) => deleted !== undefined),
      Effect.orDie
    )
  )

  return { insert, change, remove }
}

/** `TaxRateRepo` over the database. */
export const taxRateRepoLayer = Layer.effect(
  TaxRateRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const find = Effect.fn("TaxRateRepo.find")(function*(id: string) {
      const [row] = yield* sql<TaxRate>`select ${sql.literal(source.columns)} from tax_rates
        where id = ${id}::uuid and organization_id = ${yield* currentOrganization}`
      return row
    }, Effect.orDie)

    const list = Effect.fn("TaxRateRepo.list")((page: PageRequest) => Effect.orDie(ownPage<TaxRate>(sql, source, page)))

    return TaxRateRepo.of({ find, list, ...writing(sql) })
  })
)
