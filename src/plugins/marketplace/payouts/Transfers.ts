import { Context, Data, Effect, Layer, Option, Schema } from "effect"
import { CurrentActor, longText, PluginDatabase, systemActor } from "stoa/plugin"
import { MarketplaceOptions, type MarketplaceSettings } from "../MarketplaceOptions.ts"
import { manualPayouts } from "./ManualPayouts.ts"
import { PayoutEnds } from "./PayoutEnds.ts"
import { type DueTransfer, transferRepo } from "./TransferRepo.ts"

/** Payouts asked for at once, and taken at once by a run of the task. */
const [together, atOnce] = [8, 50]

/** Milliseconds after the time limit of an adapter in which its answer is written down. */
const writing = 10_000

/** How long a request waits for its transfers. */
const timeout = "10 seconds"

/** An adapter threw or rejected, which says nothing about the money. */
class AdapterSilent extends Data.TaggedError("AdapterSilent")<{ readonly cause: unknown }> {}

const Outcome = Schema.Union([
  Schema.Struct({ status: Schema.Literal("completed"), reference: longText.schema }),
  Schema.Struct({ status: Schema.Literal("processing"), reference: Schema.optionalKey(longText.schema) }),
  Schema.Struct({ status: Schema.Literal("failed"), reason: longText.schema })
])

/** Each try of a payout has one key for ever: an adapter that gets it twice pays once. */
const keyOf = ({ payoutId, retryCount }: DueTransfer): string =>
  retryCount === 0 ? payoutId : `${payoutId}:${retryCount}`

/** What the adapter says within its time; none when it says nothing that can be understood. */
const ask = ({ payoutAdapter = manualPayouts, payoutTimeLimitMs }: MarketplaceSettings) => (transfer: DueTransfer) => {
  const { amount, bankAccount, currency, payoutId, vendorId } = transfer
  const sent = { idempotencyKey: keyOf(transfer), payoutId, vendorId, amount, currency, bankAccount }
  return Effect.tryPromise({
    try: (signal) => payoutAdapter.transfer(sent, signal),
    catch: (cause) => new AdapterSilent({ cause })
  }).pipe(
    Effect.timeoutOption(payoutTimeLimitMs),
    Effect.map(Option.flatMap(Schema.decodeUnknownOption(Outcome))),
    Effect.catchTag(
      "AdapterSilent",
      ({ cause }) =>
        Effect.as(Effect.logWarning(`The payout adapter failed for payout ${payoutId}.`, cause), Option.none())
    )
  )
}

/**
 * Asks the adapter for payouts on their way and records the outcome (contract, plugins §1.5). A crash, a timeout or an
 * unclear reply leaves the payout on its way, and it is asked for again under the same key.
 */
export class Transfers extends Context.Service<Transfers>()("stoa/plugins/marketplace/payouts/Transfers", {
  make: Effect.gen(function*() {
    const repo = transferRepo(yield* PluginDatabase)
    const settings = yield* MarketplaceOptions
    const ends = yield* PayoutEnds
    const asked = ask(settings)
    const lease = settings.payoutTimeLimitMs + writing

    const one = Effect.fn("Transfers.one")(function*(transfer: DueTransfer) {
      const outcome = Option.getOrUndefined(yield* asked(transfer))
      if (outcome === undefined) return
      yield* ends.record(transfer.payoutId, transfer.retryCount, outcome)
    })
    const all = (due: ReadonlyArray<DueTransfer>) =>
      // One that cannot be written down must not cost the others their turn.
      Effect.forEach(due, (transfer) =>
        Effect.catchCause(one(transfer), (cause) =>
          Effect.logError(`payout ${transfer.payoutId} could not be settled`, cause)), {
        concurrency: together,
        discard: true
      })

    /**
     * Asks for these payouts, if they are due, and does not wait for a slow adapter: the task `marketplace/settle-payouts`
     * asks it again.
     */
    const promptly = (payoutIds: ReadonlyArray<string>) =>
      payoutIds.length === 0
        ? Effect.void
        : repo.claim(payoutIds.length, lease, payoutIds).pipe(
          Effect.flatMap(all),
          Effect.timeoutOption(timeout),
          Effect.asVoid
        )

    const ofOrganization = Effect.fn("Transfers.ofOrganization")(function*() {
      let count = 0
      for (;;) {
        const due = yield* repo.claim(atOnce, lease)
        yield* all(due)
        count += due.length
        if (due.length < atOnce) return count
      }
    })

    /** Asks for all that are due in all organizations, the longest waiting first; gives how many. For the scheduler. */
    const settleDue = Effect.gen(function*() {
      let count = 0
      for (const organizationId of yield* repo.organizations) {
        count += yield* Effect.provideService(ofOrganization(), CurrentActor, systemActor(organizationId))
      }
      return count
    })

    return { promptly, settleDue }
  })
}) {
  static readonly layer = Layer.effect(Transfers, Transfers.make)
}
