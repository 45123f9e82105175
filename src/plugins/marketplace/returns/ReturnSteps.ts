import { Context, DateTime, Effect, Layer } from "effect"
import { invalid, PluginDatabase, RowNotFound } from "stoa/plugin"
import { whenOverdue } from "../deadlines/Deadlines.ts"
import { Parties } from "../parties/Parties.ts"
import { maxFor } from "../refunds/RefundChoice.ts"
import { SubOrderRefunds } from "../refunds/SubOrderRefunds.ts"
import { Returns } from "./Returns.ts"
import { returns } from "./ReturnTables.ts"

class MoreThanGoods extends invalid(
  "MoreThanGoods",
  "refundAmountCents",
  (most: number) => `is more than the ${most} that the goods cost`
) {}

/** The way of a return from the request to the goods (contract, plugins §1.2): each step by whom it is for. */
export class ReturnSteps extends Context.Service<ReturnSteps>()("stoa/plugins/marketplace/returns/ReturnSteps", {
  make: Effect.gen(function*() {
    const db = yield* PluginDatabase
    const rows = db.table(returns)
    const { at } = yield* Returns
    const parties = yield* Parties
    const refunds = yield* SubOrderRefunds

    /** In the portal only the vendor's sub-orders exist, even where the actor may see more. */
    const vendorOf = (subOrderId: string) =>
      Effect.flatMap(
        parties.of(subOrderId),
        (standing) => standing.isVendor ? Effect.succeed(standing) : Effect.fail(new RowNotFound())
      )

    /** As the vendor; an amount above what the goods have left of their price is 422. Null: what they cost. */
    const approve = Effect.fn("ReturnSteps.approve")(function*(id: string, amount: number | null) {
      const { found, of } = yield* at(id, "vendor_approved", vendorOf)
      const most = maxFor(yield* refunds.left(of), found.lineItems ?? [])
      if (amount !== null && amount > most) {
        return yield* new MoreThanGoods(most)
      }
      return yield* rows.update(id, { status: "vendor_approved", refundAmountCents: amount })
    }, db.transaction)

    /** As the vendor. */
    const reject = Effect.fn("ReturnSteps.reject")(function*(id: string, vendorNotes: string | null) {
      yield* at(id, "vendor_rejected", vendorOf)
      const resolvedAt = DateTime.toDateUtc(yield* DateTime.now)
      return yield* rows.update(id, { status: "vendor_rejected", vendorNotes, resolvedAt })
    }, db.transaction)

    /** As the buyer. */
    const shipBack = Effect.fn("ReturnSteps.shipBack")(function*(id: string, trackingNumber: string) {
      yield* at(id, "shipped_back", parties.buyerOf)
      return yield* rows.update(id, { status: "shipped_back", trackingNumber })
    }, db.transaction)

    /** As the vendor, or an operator. */
    const receive = Effect.fn("ReturnSteps.receive")(function*(id: string) {
      yield* at(id, "received", parties.sellerOf)
      return yield* rows.update(id, { status: "received" })
    }, db.transaction)

    /** Approves those of all organizations that their vendor left unanswered until the deadline; gives how many. */
    const approveOverdue = whenOverdue(
      db,
      "marketplace_return_requests",
      (id) => rows.update(id, { status: "vendor_approved" }, { status: "requested" })
    )

    return { approve, reject, shipBack, receive, approveOverdue }
  })
}) {
  static readonly layer = Layer.effect(ReturnSteps, ReturnSteps.make)
}
