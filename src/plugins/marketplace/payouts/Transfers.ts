import { Effect, Option, Schema } from "effect"
import { CurrentActor, systemActor } from "stoa/plugin"
import { Market } from "../Market.ts"
import type { MarketplaceSettings } from "../MarketplaceOptions.ts"
import { manualPayouts, TransferOutcome } from "./PayoutAdapter.ts"
import { recordOutcome } from "./PayoutEnds.ts"
import { claimTransfers, type DueTransfer, organizationsWithTransfers } from "./TransferRepo.ts"

/** Payouts asked for at once, and taken at once by a run of the task. */
const [together, atOnce] = [8, 50]

/** Milliseconds after the time limit of an adapter in which its answer is written down. */
const writing = 10_000

/** How long a request waits for its transfers. */
const timeout = "10 seconds"

/** Each try of a payout has one key for ever: an adapter that gets it twice pays once. */
const keyOf = ({ payoutId, retryCount }: DueTransfer): string =>
  retryCount === 0 ? payoutId : `${payoutId}:${retryCount}`

/** What the adapter says within its time; none when it says nothing that can be understood. */
const ask = ({ payoutAdapter = manualPayouts, payoutTimeLimitMs }: MarketplaceSettings) => (transfer: DueTransfer) => {
  const { amount, bankAccount, currency, payoutId, vendorId } = transfer
  const sent = { idempotencyKey: keyOf(transfer), payoutId, vendorId, amount, currency, bankAccount }
  return Effect.tryPromise((signal) => payoutAdapter.transfer(sent, signal)).pipe(
    Effect.timeoutOption(payoutTimeLimitMs),
    Effect.map(Option.flatMap(Schema.decodeUnknownOption(TransferOutcome))),
    // It threw or rejected, which says nothing about the money.
    Effect.catch(({ cause }) =>
      Effect.as(Effect.logWarning(`The payout adapter failed for payout ${payoutId}.`, cause), Option.none())
    )
  )
}

/*
 * Asks the adapter for payouts on their way and records the outcome (contract, plugins §1.5). A crash, a timeout or an
 * unclear reply leaves the payout on its way, and it is asked for again under the same key.
 */

const one = Effect.fn("Transfers.one")(function*(transfer: DueTransfer) {
  const outcome = Option.getOrUndefined(yield* ask((yield* Market).settings)(transfer))
  if (outcome !== undefined) yield* recordOutcome(transfer.payoutId, transfer.retryCount, outcome)
})

/** Asks for those that are due, at most `limit`; gives how many. With `ids` only these. */
const transferDue = Effect.fnUntraced(function*(limit: number, ids?: ReadonlyArray<string>) {
  const { db, settings } = yield* Market
  const due = yield* db.use(claimTransfers)(limit, settings.payoutTimeLimitMs + writing, ids)
  // One that cannot be written down must not cost the others their turn.
  yield* Effect.forEach(
    due,
    (transfer) =>
      Effect.catchCause(
        one(transfer),
        (cause) => Effect.logError(`payout ${transfer.payoutId} could not be settled`, cause)
      ),
    { concurrency: together, discard: true }
  )
  return due.length
})

/**
 * Asks for these payouts, if they are due, and does not wait for a slow adapter: the task `marketplace/settle-payouts`
 * asks it again.
 */
export const transferNow = (payoutIds: ReadonlyArray<string>) =>
  payoutIds.length === 0 ? Effect.void : Effect.timeoutOption(transferDue(payoutIds.length, payoutIds), timeout)

const ofOrganization = Effect.fn("Transfers.ofOrganization")(function*() {
  for (let count = 0;;) {
    const asked = yield* transferDue(atOnce)
    count += asked
    if (asked < atOnce) return count
  }
})

/**
 * Asks for all that are due in all organizations, the longest waiting first; gives how many. One job does it: it is looked for
 * every minute, and few organizations have any.
 */
export const settleDue = Effect.gen(function*() {
  let count = 0
  for (const organizationId of yield* organizationsWithTransfers((yield* Market).db)) {
    count += yield* Effect.provideService(ofOrganization(), CurrentActor, systemActor(organizationId))
  }
  return count
})
