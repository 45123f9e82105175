import { DateTime, Effect } from "effect"
import { invalid, type PaymentDeclined, type PluginCall } from "stoa/plugin"
import type { TerminalOutcome } from "./CardTerminals.ts"
import { end, keyOf, PaymentPending, PaymentRefused } from "./PaymentOutcomes.ts"
import { PosOptions } from "./PosOptions.ts"
import { type Payment, payments } from "./Sales.ts"
import { loadSale } from "./SaleStore.ts"

class UnknownTerminal extends invalid(
  "PosProviderUnknown",
  "provider",
  (id: string) => `provider names no card terminals of this store: "${id}".`
) {}

export const terminalOf = Effect.fnUntraced(function*(id: string) {
  const { terminals } = yield* PosOptions
  return terminals.find((one) => one.id === id) ?? (yield* new UnknownTerminal(id))
})

/** Notes what a card terminal says of a payment. */
const noted = Effect.fnUntraced(function*(call: PluginCall, payment: Payment, outcome: TerminalOutcome) {
  if (outcome.status === "pending") return payment
  const processedAt = yield* DateTime.nowAsDate
  if (outcome.status === "failed") {
    return yield* end(call, payment, { status: "failed", failure: outcome.message, processedAt })
  }
  const { amount, label, tip } = outcome
  return yield* end(call, payment, { status: "collected", amount, label, tip, processedAt })
})

const refusals = (call: PluginCall, payment: Payment) => ({
  PaymentUnknown: () => new PaymentPending(),
  PaymentDeclined: ({ message }: PaymentDeclined) =>
    Effect.andThen(end(call, payment, { status: "failed", failure: message }), new PaymentRefused(message))
})

const adapterOf = (payment: Payment) => terminalOf((payment.provider ?? "").slice("pos-".length))

const begin = Effect.fnUntraced(function*(call: PluginCall, payment: Payment) {
  const adapter = yield* adapterOf(payment)
  const { terminal, transaction } = yield* loadSale(call.db, payment.transactionId)
  return yield* adapter.start({
    paymentId: payment.id,
    amount: payment.amount,
    currency: transaction.currency,
    tipMode: terminal.tipMode,
    readerId: payment.readerId ?? "",
    key: keyOf(payment)
  })
})

export const startOnReader = Effect.fnUntraced(function*(call: PluginCall, payment: Payment) {
  const { intentId } = yield* Effect.catchTags(begin(call, payment), refusals(call, payment))
  return yield* call.db.table(payments).update(payment.id, { intentId })
})

export const askReader = Effect.fnUntraced(function*(call: PluginCall, payment: Payment) {
  const adapter = yield* adapterOf(payment)
  const started = payment.intentId === null ? yield* startOnReader(call, payment) : payment
  const outcome = yield* Effect.catchTags(adapter.status(started.intentId ?? ""), refusals(call, started))
  return yield* noted(call, started, outcome)
})

/** Of a pending payment that pays nothing any more, also when its terminal says that it was collected. */
export const goingBack = "It is being given back."

/** Gives back what a terminal has taken, or is about to take. */
export const cancelOnReader = Effect.fnUntraced(function*(call: PluginCall, payment: Payment) {
  const { cancel } = yield* adapterOf(payment)
  // While it is pending the sale cannot be completed, so no order is paid with money that goes back.
  const asked = yield* end(call, payment, { status: "pending", failure: goingBack })
  if (asked.status !== "pending") return asked
  // Another request may be beginning it: the same key names the same payment. One that is declined took nothing.
  const intentId = asked.intentId ??
    (yield* Effect.catchTags(Effect.map(begin(call, asked), (begun) => begun.intentId), {
      PaymentUnknown: () => new PaymentPending(),
      PaymentDeclined: () => Effect.succeed(null)
    }))
  if (intentId !== null) {
    yield* Effect.catchTags(cancel(intentId), {
      PaymentUnknown: () => new PaymentPending(),
      PaymentDeclined: () => Effect.andThen(end(call, asked, { failure: null }), new PaymentPending())
    })
  }
  return yield* end(call, asked, { status: "cancelled", failure: null, processedAt: yield* DateTime.nowAsDate })
})
