import { Effect } from "effect"
import { type CurrentActor, type PaymentAdapter, PaymentDeclined, type PaymentUnknown } from "stoa/plugin"

/** A payment that a card terminal shall take; `amount` in minor units. The same key starts no second one. */
export interface TerminalRequest {
  readonly paymentId: string
  readonly amount: number
  readonly currency: string
  /** `on_terminal`: the terminal asks for a tip. */
  readonly tipMode: "off" | "on_terminal" | "on_receipt"
  readonly readerId: string
  readonly key: string
}

/** What became of it. `amount` is without the tip. */
export type TerminalOutcome =
  | { readonly status: "pending" }
  | { readonly status: "collected"; readonly amount: number; readonly tip: number; readonly label: string }
  | { readonly status: "failed"; readonly message: string }

type Call<A> = Effect.Effect<A, PaymentDeclined | PaymentUnknown, CurrentActor>

/** What an event is about. */
export interface TerminalEvent {
  readonly paymentId: string
}

/**
 * Card terminals of a provider (contract-tills-channels §A.8). Every call may be repeated: `start` and `refund` with the
 * same key, `cancel` of what is cancelled.
 */
export interface PosTerminalAdapter {
  /** Begins the name of its payments in orders: `pos-stripe`. */
  readonly id: string
  readonly start: (request: TerminalRequest) => Call<{ readonly intentId: string }>
  readonly status: (intentId: string) => Call<TerminalOutcome>
  /** Gives money back that was collected. */
  readonly cancel: (intentId: string) => Call<void>
  /** Returns the provider's reference. */
  readonly refund: (intentId: string, amount: number, key: string) => Call<string>
  /** Connects a reader by the code on its screen. Absent: at the provider. */
  readonly register?: (
    reader: { readonly registrationCode: string; readonly label: string }
  ) => Call<{ readonly readerId: string }>
  /**
   * The payment of an event; undefined without a valid signature. Events are hints: the payment is then asked for. Absent:
   * the provider sends none.
   */
  readonly verifyWebhook?: (
    headers: Readonly<Record<string, string | undefined>>,
    rawBody: string
  ) => Effect.Effect<TerminalEvent | undefined>
}

const declined = Effect.fail(
  new PaymentDeclined({ code: "PAYMENT_INTENT_CREATE_FAILED", message: "This is taken at a till only." })
)

/** Money that staff hands over: a refund says that it was. */
const byHand = (providerId: string): PaymentAdapter => ({
  providerId,
  authorize: () => declined,
  capture: () => declined,
  cancel: () => Effect.void,
  refund: (_intentId, _amount, _reason, key) => Effect.succeed(`${providerId}:${key}`)
})

/** Payments of tills as refunds of orders ask for them. None of them pays a checkout. */
export const tillMethods = (terminals: ReadonlyArray<PosTerminalAdapter>): ReadonlyArray<PaymentAdapter> => [
  ...["pos-cash", "pos-card", "pos-other", "pos-exchange"].map(byHand),
  ...terminals.map((terminal): PaymentAdapter => ({
    ...byHand(`pos-${terminal.id}`),
    cancel: (intentId) => terminal.cancel(intentId),
    refund: (intentId, amount, _reason, key) => terminal.refund(intentId, amount, key)
  }))
]
