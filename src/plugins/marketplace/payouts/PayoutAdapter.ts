import { Schema } from "effect"
import { longText } from "stoa/plugin"

/** A transfer that is asked for. */
export interface Transfer {
  /** The same for every attempt of one payout, so that the adapter pays once. */
  readonly idempotencyKey: string
  readonly payoutId: string
  readonly vendorId: string
  /** Minor units of `currency`. */
  readonly amount: number
  readonly currency: string
  /** Where the vendor's money goes; null when it has not said. */
  readonly bankAccount: Readonly<Record<string, unknown>> | null
}

/** What became of a transfer: made, refused for good, or on its way until the adapter is asked again. */
export const TransferOutcome = Schema.Union([
  Schema.Struct({ status: Schema.Literal("completed"), reference: longText.schema }),
  Schema.Struct({ status: Schema.Literal("processing"), reference: Schema.optionalKey(longText.schema) }),
  Schema.Struct({ status: Schema.Literal("failed"), reason: longText.schema })
])
export type TransferOutcome = typeof TransferOutcome.Type

/**
 * How money reaches vendors. An adapter that throws, rejects or stays silent has said nothing: it is asked again under the
 * same key.
 */
export interface PayoutAdapter {
  readonly name: string
  readonly transfer: (transfer: Transfer, signal: AbortSignal) => Promise<TransferOutcome>
}

/** Somebody pays by hand: a payout stays on its way until `POST /payouts/{id}/complete` says that it arrived. */
export const manualPayouts: PayoutAdapter = {
  name: "manual",
  transfer: () => Promise.resolve({ status: "processing" })
}
