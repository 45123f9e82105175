import { Context, DateTime, Effect, Layer } from "effect"
import { conflict, InvalidTransition, type PageRequest, PluginDatabase, type Where } from "stoa/plugin"
import { Ledger } from "../ledger/Ledger.ts"
import { departure } from "./PayoutDeparture.ts"
import { payoutRunRepo } from "./PayoutRunRepo.ts"
import { payouts } from "./PayoutTables.ts"
import { Transfers } from "./Transfers.ts"

class OwedLess
  extends conflict("OwedLess", "The vendor is owed less than this payout by now. The next run pays what is due.")
{}
class MoneyLeft extends conflict("MoneyLeft", "The money of this payout has left with another one.") {}

const make = Effect.gen(function*() {
  const db = yield* PluginDatabase
  const ledger = yield* Ledger
  const transfers = yield* Transfers
  const repo = payoutRunRepo(db)
  const leave = departure(ledger, repo)
  const rows = db.table(payouts)

  /** A failed payout goes out again for the money it gave back, unless that is gone or no longer the vendor's. */
  const again = Effect.fnUntraced(function*(id: string) {
    const { currency, netAmount, vendorId } = yield* rows.get(id)
    yield* ledger.lock(vendorId, currency)
    const payout = yield* rows.lock(id)
    if (payout.status !== "failed") {
      return yield* InvalidTransition.of(`A ${payout.status} payout cannot be retried.`)
    }
    if ((yield* repo.eligible({ vendorId, currency })) < netAmount) {
      return yield* new OwedLess()
    }
    if (!(yield* repo.takeReversal(id, { vendorId, currency }))) {
      return yield* new MoneyLeft()
    }
    yield* rows.update(id, {
      status: "processing",
      retryCount: payout.retryCount + 1,
      failedAt: null,
      failureReason: null,
      attempts: 0,
      dueAt: yield* DateTime.nowAsDate
    })
    yield* leave({ vendorId, currency }, id, netAmount)
  })

  /** Sends a failed payout again; 422 unless it has failed, 409 when its money is gone. */
  const retry = Effect.fn("Payouts.retry")(function*(id: string) {
    yield* db.transaction(again(id))
    yield* transfers.promptly([id])
    return yield* rows.get(id)
  })

  return {
    retry,
    get: rows.get,
    list: (where: Where<typeof payouts>, page: PageRequest) => rows.page(where, page)
  }
})

/** Payouts that have been made (contract, plugins §1.6); the organization is the actor's. */
export class Payouts extends Context.Service<Payouts>()("stoa/plugins/marketplace/payouts/Payouts", {
  make
}) {
  static readonly layer = Layer.effect(Payouts, Payouts.make)
}
