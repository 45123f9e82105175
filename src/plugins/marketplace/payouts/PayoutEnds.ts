import { DateTime, Effect } from "effect"
import { conflict, InvalidTransition } from "stoa/plugin"
import { lockAccount, post } from "../ledger/LedgerRepo.ts"
import { inTransaction, Market } from "../Market.ts"
import { payout, type PayoutRow, payouts } from "./Payout.ts"
import type { TransferOutcome } from "./PayoutAdapter.ts"

class TransferRunning
  extends conflict("TransferRunning", "The payout is being transferred at this moment. Try again shortly.", {
    retryable: true
  })
{}

/*
 * How payouts end (contract, plugins §1.5): by what the adapter says, or by what an operator says.
 */

/** A payout that can make the move. Lock order: account, then payout. */
export const lockPayout = Effect.fnUntraced(function*(move: keyof typeof payout.moves, id: string) {
  const { db } = yield* Market
  yield* db.use(lockAccount)(yield* db.table(payouts).get(id))
  return yield* db.use(payout).lock(move, id)
})

/** No more is to be asked of the adapter. */
const ended = { dueAt: null, askedUntil: null }

const completed = (id: string, externalReference: string) =>
  Market.use(({ db }) => db.use(payout).move("complete", id, { ...ended, externalReference }))

/** The vendor gets back what the payout took, to the unit. */
const failed = Effect.fnUntraced(function*({ currency, id, netAmount, vendorId }: PayoutRow, failureReason: string) {
  const { db } = yield* Market
  const reversal = { type: "payout_reversal", amountCents: netAmount, description: failureReason } as const
  yield* db.use(post)([{ ...reversal, vendorId, currency, referenceType: "payout", referenceId: id }])
  return yield* db.use(payout).move("fail", id, { ...ended, failureReason })
})

/** An operator cannot decide while a process may be asking the adapter, whose outcome could differ: 409. */
const byHand = Effect.fnUntraced(function*(move: "complete" | "fail", id: string) {
  const found = yield* lockPayout(move, id)
  if (found.askedUntil !== null && found.askedUntil > (yield* DateTime.nowAsDate)) return yield* new TransferRunning()
  return found
})

/** The money has arrived; 422 unless it is on its way, 409 while the adapter is being asked. */
export const completePayout = (id: string, reference: string) =>
  inTransaction(Effect.andThen(byHand("complete", id), completed(id, reference)))

/** The money came back or never left: the vendor's balance has it again. Refused as `completePayout` is. */
export const failPayout = (id: string, reason: string) =>
  inTransaction(Effect.flatMap(byHand("fail", id), (found) => failed(found, reason)))

/**
 * Records the adapter's outcome of one attempt. A late outcome of an earlier attempt changes nothing and is logged: a
 * person has to check whether the money went out twice.
 */
export const recordOutcome = Effect.fn("PayoutEnds.record")(
  function*(id: string, retryCount: number, outcome: TransferOutcome) {
    const { db } = yield* Market
    const found = yield* lockPayout("complete", id)
    if (found.retryCount !== retryCount) return yield* InvalidTransition.of("It is another attempt's turn.")
    if (outcome.status === "completed") return yield* completed(id, outcome.reference)
    if (outcome.status === "failed") return yield* failed(found, outcome.reason)
    const externalReference = outcome.reference ?? found.externalReference
    return yield* db.table(payouts).update(id, { askedUntil: null, externalReference })
  },
  (work) => inTransaction(work),
  (work, id, retryCount, outcome) =>
    Effect.catch(
      work,
      ({ error }) =>
        Effect.logError(`The adapter says ${outcome.status} to try ${retryCount} of payout ${id}: ${error.message}`)
    )
)
