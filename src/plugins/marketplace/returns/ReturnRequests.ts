import { Context, DateTime, Effect, Layer } from "effect"
import { CurrentActor, type OrderId, PluginDatabase } from "stoa/plugin"
import { MarketplaceOptions } from "../MarketplaceOptions.ts"
import { Parties } from "../parties/Parties.ts"
import { SubOrderRefunds } from "../refunds/SubOrderRefunds.ts"
import { subOrders } from "../suborders/SubOrderTables.ts"
import { claimedUnits, lockSubOrder } from "./ReturnRepo.ts"
import { mayBeReturned, returnable, returnedUnits } from "./ReturnRules.ts"
import type { NewReturn } from "./ReturnsApi.ts"
import { returns } from "./ReturnTables.ts"

/** Returns as buyers ask for them (contract, plugins §1.2, §1.9). */
export class ReturnRequests
  extends Context.Service<ReturnRequests>()("stoa/plugins/marketplace/returns/ReturnRequests", {
    make: Effect.gen(function*() {
      const db = yield* PluginDatabase
      const parties = yield* Parties
      const refunds = yield* SubOrderRefunds
      const { returnWindowDays, vendorReturnResponseDays } = yield* MarketplaceOptions

      const units = Effect.fnUntraced(function*({ lineItems, subOrderId }: typeof NewReturn.Type, orderId: OrderId) {
        const { organizationId } = yield* CurrentActor
        yield* lockSubOrder(db, organizationId, subOrderId)
        const claimed = yield* claimedUnits(db, organizationId, subOrderId)
        const { lines } = yield* refunds.left({ orderId, subOrderId })
        return yield* Effect.fromResult(returnedUnits(lineItems, returnable(lines, claimed)))
      })

      /**
       * Asks for a return, as the buyer: 422 unless the sub-order was delivered within the window, and for units that it does
       * not have, that were given back or that another return asks for.
       */
      const request = Effect.fn("ReturnRequests.request")(function*(sent: typeof NewReturn.Type) {
        const { customerId, orderId } = yield* parties.buyerOf(sent.subOrderId)
        const subOrder = yield* db.table(subOrders).get(sent.subOrderId)
        const now = yield* DateTime.now
        yield* Effect.fromResult(mayBeReturned(subOrder, returnWindowDays, DateTime.toDateUtc(now)))
        return yield* db.table(returns).insert({
          subOrderId: sent.subOrderId,
          customerId,
          reason: sent.reason,
          description: sent.description ?? null,
          lineItems: yield* units(sent, orderId),
          deadlineAt: DateTime.toDateUtc(DateTime.add(now, { days: vendorReturnResponseDays }))
        })
      }, db.transaction)

      return { request }
    })
  })
{
  static readonly layer = Layer.effect(ReturnRequests, ReturnRequests.make)
}
