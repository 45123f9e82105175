import { Context, DateTime, Effect, Layer } from "effect"
import { CurrentActor, forbidden, type PageRequest, PluginDatabase, type RowOf } from "stoa/plugin"
import { whenOverdue } from "../deadlines/Deadlines.ts"
import { MarketplaceOptions } from "../MarketplaceOptions.ts"
import { Parties } from "../parties/Parties.ts"
import { subOrders } from "../suborders/SubOrderTables.ts"
import { mayBecome, statusAfter } from "./DisputeRules.ts"
import type { DisputeAnswer, NewDispute } from "./DisputesApi.ts"
import { disputes, type disputeStatuses } from "./DisputeTables.ts"

class ReadsOnly extends forbidden("ReadsOnly", "Your role for this vendor may only read.") {}
class PartiesOnly extends forbidden("PartiesOnly", "Only the parties and operators may answer.") {}

export type Dispute = RowOf<typeof disputes>
type Filter = { readonly status?: typeof disputeStatuses[number] | undefined; readonly subOrderId?: string | undefined }

/**
 * Disputes between buyers and vendors until they are decided (contract, plugins §1.2, §1.9). While one is open
 * nothing of its sub-order is paid out. A dispute's row is locked before the order, the sub-order and the accounts that
 * follow from it; no holder of such a lock waits for a dispute.
 */
export class Disputes extends Context.Service<Disputes>()("stoa/plugins/marketplace/disputes/Disputes", {
  make: Effect.gen(function*() {
    const db = yield* PluginDatabase
    const parties = yield* Parties
    const { vendorResponseDeadlineDays } = yield* MarketplaceOptions
    const rows = db.table(disputes)

    /** Opens one for the buyer; 409 when the sub-order has an open one. */
    const open = Effect.fn("Disputes.open")(function*({ description, reason, subOrderId }: typeof NewDispute.Type) {
      yield* parties.buyerOf(subOrderId)
      const { userId } = yield* CurrentActor
      const deadline = DateTime.add(yield* DateTime.now, { days: vendorResponseDeadlineDays })
      // The unique index lets one open dispute of a sub-order through, of however many requests at once.
      const made = yield* rows.insert({
        subOrderId,
        reason,
        description: description ?? null,
        openedBy: userId ?? "",
        deadlineAt: DateTime.toDateUtc(deadline)
      })
      yield* db.table(subOrders).update(subOrderId, { onHold: true })
      return made
    }, db.transaction)

    /** One of them; 404. */
    const get = Effect.fn("Disputes.get")(function*(id: string) {
      const dispute = yield* rows.get(id)
      yield* parties.of(dispute.subOrderId)
      return dispute
    })

    /** Adds an answer; the vendor's first one hands the dispute to the operators. */
    const answer = Effect.fn("Disputes.answer")(function*(id: string, { note, url }: typeof DisputeAnswer.Type) {
      const dispute = yield* rows.lock(id)
      const { isAdmin, party, sells } = yield* parties.of(dispute.subOrderId)
      if (party === "vendor" && !sells && !isAdmin) {
        return yield* new ReadsOnly()
      }
      if (party === "platform" && !isAdmin) return yield* new PartiesOnly()
      const status = yield* Effect.fromResult(statusAfter(dispute, party))
      const at = DateTime.formatIso(yield* DateTime.now)
      const evidence = [...dispute.evidence, { party, type: "response", note, url, at }]
      return yield* rows.update(id, { status, evidence })
    }, db.transaction)

    /** Escalates one that is not resolved. */
    const escalate = Effect.fn("Disputes.escalate")(function*(id: string) {
      const { status } = yield* rows.lock(id)
      yield* Effect.fromResult(mayBecome(status, "escalated"))
      return yield* rows.update(id, { status: "escalated" })
    }, db.transaction)

    /** Those that the actor may see. */
    const page = Effect.fn("Disputes.page")((filter: Filter, page: PageRequest) =>
      parties.visible(
        {
          name: "marketplace_disputes",
          page: (where, page) => rows.page(where, page),
          byIds: (ids) => rows.list({ id: { in: ids } })
        },
        filter,
        page
      )
    )

    /** Escalates those of all organizations that their vendor left unanswered until the deadline; gives how many. */
    const escalateOverdue = whenOverdue(
      db,
      "marketplace_disputes",
      (id) => rows.update(id, { status: "escalated" }, { status: "vendor_response_pending" })
    )

    return { open, page, get, answer, escalate, escalateOverdue }
  })
}) {
  static readonly layer = Layer.effect(Disputes, Disputes.make)
}
