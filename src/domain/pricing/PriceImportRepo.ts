import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import type { Price } from "./Price.ts"
import { type PriceRecordRow, toPrice } from "./PriceRows.ts"

/** Reads prices for imports. */
export class PriceImportRepo extends Context.Service<PriceImportRepo, {
  /** Reads and locks every price of these entities and their variants; `now` is the time of the transaction. */
  readonly read: (
    entityIds: ReadonlyArray<string>
  ) => Effect.Effect<{ readonly now: Date; readonly prices: ReadonlyArray<Price> }, never, CurrentActor>
}>()("stoa/domain/pricing/PriceImportRepo") {
  static readonly layer = Layer.effect(
    PriceImportRepo,
    Effect.map(SqlClient.SqlClient, (sql) => ({
      read: Effect.fn("PriceImportRepo.read")(function*(entityIds: ReadonlyArray<string>) {
        const organization = yield* currentOrganization
        const [clock] = yield* sql<{ readonly now: Date }>`select now() as now`
        const found = yield* sql<PriceRecordRow>`select * from prices where organization_id = ${organization}
          and entity_id = any(${[...new Set(entityIds)]}::uuid[]) order by id for no key update`.unprepared
        return { now: clock?.now ?? new Date(0), prices: found.map(toPrice) }
      }, Effect.orDie)
    }))
  )
}
