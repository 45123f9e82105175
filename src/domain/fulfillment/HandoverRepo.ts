import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import type { StockDemand } from "../inventory/StockRules.ts"
import { readGoods, unshelvedUnits } from "./OrderGoodsRepo.ts"
import { planRest } from "./ShipmentRules.ts"
import { insertShipment } from "./ShipmentStatementRepo.ts"

/** The statements of `Handover`; each method sends at most two, for any number of lines. */
export class HandoverRepo extends Context.Service<HandoverRepo, {
  readonly rest: (orderId: string) => Effect.Effect<void, never, CurrentActor>
  readonly unshelved: (orderId: string) => Effect.Effect<ReadonlyArray<StockDemand>, never, CurrentActor>
}>()("stoa/domain/fulfillment/HandoverRepo") {}

/** `HandoverRepo` over the database of the process. */
export const handoverRepoLayer = Layer.effect(
  HandoverRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const rest = Effect.fn("HandoverRepo.rest")(function*(orderId: string) {
      const actor = yield* CurrentActor
      const goods = yield* readGoods(sql, actor.organizationId, orderId)
      const plan = goods === undefined ? undefined : planRest(goods, DateTime.toDateUtc(yield* DateTime.now))
      if (plan !== undefined) yield* insertShipment(sql, actor, plan, [], false)
    }, Effect.orDie)

    const unshelved = Effect.fn("HandoverRepo.unshelved")(function*(orderId: string) {
      return yield* unshelvedUnits(sql, yield* currentOrganization, orderId)
    }, Effect.orDie)

    return HandoverRepo.of({ rest, unshelved })
  })
)
