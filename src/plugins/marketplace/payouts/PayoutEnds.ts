import { Context, DateTime, Effect, Layer } from "effect"
import { conflict, InvalidTransition, PluginDatabase, type RowOf } from "stoa/plugin"
import { Ledger } from "../ledger/Ledger.ts"
import type { TransferOutcome } from "./PayoutAdapter.ts"
import { payouts } from "./PayoutTables.ts"

class TransferRunning
  extends conflict("TransferRunning", "The payout is being transferred at this moment. Try again shortly.")
{}

export type Payout = RowOf<typeof payouts>

const isOver = (payout: Payout, to: string) => InvalidTransition.of(`A ${payout.status} payout cannot become ${to}.`)

/** No more is to be asked of the adapter. */
const ended = { dueAt: null, askedUntil: null }

const make = Effect.gen(function*() {
  const db = yield* PluginDatabase
  const ledger = yield* Ledger
  const rows = db.table(payouts)

  /**
   * A payout that is still on its way. Lock order: account, then payout. An operator cannot decide while a process may be
   * asking the adapter, whose outcome could differ.
   */
  const onItsWay = Effect.fnUntraced(function*(id: string, to: string, byHand: boolean) {
    const { currency, vendorId } = yield* rows.get(id)
    yield* ledger.lock(vendorId, currency)
    const payout = yield* rows.lock(id)
    if (payout.status !== "processing") return yield* isOver(payout, to)
    if (byHand && payout.askedUntil !== null && payout.askedUntil > (yield* DateTime.nowAsDate)) {
      return yield* new TransferRunning()
    }
    return payout
  })

  const completed = Effect.fnUntraced(function*(id: string, reference: string) {
    const processedAt = yield* DateTime.nowAsDate
    const made = yield* rows.update(id, { ...ended, status: "completed", externalReference: reference, processedAt })
    yield* db.announce("payout.completed", { entityType: "payout", entityId: id, payload: made })
    return made
  })

  /** The vendor gets back what the payout took, to the unit. */
  const failed = Effect.fnUntraced(function*({ currency, id, netAmount, vendorId }: Payout, reason: string) {
    const failedAt = yield* DateTime.nowAsDate
    const made = yield* rows.update(id, { ...ended, status: "failed", failureReason: reason, failedAt })
    yield* ledger.post([{
      vendorId,
      currency,
      type: "payout_reversal",
      amountCents: netAmount,
      subOrderId: null,
      referenceType: "payout",
      referenceId: id,
      description: reason
    }])
    return made
  })

  const outcomeOf = (payout: Payout, outcome: TransferOutcome) => {
    if (outcome.status === "completed") return completed(payout.id, outcome.reference)
    if (outcome.status === "failed") return failed(payout, outcome.reason)
    const reference = outcome.reference ?? payout.externalReference
    return rows.update(payout.id, { askedUntil: null, externalReference: reference })
  }

  /** The money has arrived; 422 unless it is on its way, 409 while the adapter is being asked. */
  const complete = (id: string, reference: string) =>
    db.transaction(Effect.andThen(onItsWay(id, "completed", true), completed(id, reference)))

  /** The money came back or never left: the vendor's balance has it again. Refused as `complete` is. */
  const fail = (id: string, reason: string) =>
    db.transaction(Effect.flatMap(onItsWay(id, "failed", true), (payout) => failed(payout, reason)))

  /**
   * Records the adapter's outcome of one attempt. A late outcome of an earlier attempt changes nothing and is logged: a
   * person has to check whether the money went out twice.
   */
  const record = Effect.fn("PayoutEnds.record")(
    function*(id: string, retryCount: number, outcome: TransferOutcome) {
      const payout = yield* onItsWay(id, outcome.status, false)
      if (payout.retryCount !== retryCount) return yield* isOver(payout, outcome.status)
      yield* outcomeOf(payout, outcome)
    },
    (work) => db.transaction(work),
    (work, id, retryCount, outcome) =>
      Effect.catch(
        work,
        ({ error }) =>
          Effect.logError(`The adapter says ${outcome.status} to try ${retryCount} of payout ${id}: ${error.message}`)
      )
  )

  return { complete, fail, record }
})

/** How payouts end (contract, plugins §1.5): by what the adapter says, or by what an operator says. */
export class PayoutEnds extends Context.Service<PayoutEnds>()("stoa/plugins/marketplace/payouts/PayoutEnds", {
  make
}) {
  static readonly layer = Layer.effect(PayoutEnds, PayoutEnds.make)
}
