import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { Handover } from "./Handover.ts"
import { readGoods, unshelvedUnits } from "./OrderGoodsRepo.ts"
import { planRest } from "./ShipmentRules.ts"
import { insertShipment } from "./ShipmentStatementRepo.ts"

/** `Handover` over the database of the process. */
export const handoverLayer = Layer.effect(
  Handover,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const rest = Effect.fn("Handover.rest")(function*(orderId: string) {
      const actor = yield* CurrentActor
      const goods = yield* readGoods(sql, actor.organizationId, orderId)
      const plan = goods === undefined ? undefined : planRest(goods, DateTime.toDateUtc(yield* DateTime.now))
      if (plan !== undefined) yield* insertShipment(sql, actor, plan, [], false)
    }, Effect.orDie)

    const unshelved = Effect.fn("Handover.unshelved")(function*(orderId: string) {
      return yield* unshelvedUnits(sql, yield* currentOrganization, orderId)
    }, Effect.orDie)

    return Handover.of({ rest, unshelved })
  })
)
