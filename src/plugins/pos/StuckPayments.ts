import { DateTime, Effect, Schema } from "effect"
import { about, conflict, invalid, InvalidTransition, type PluginCall, Text } from "stoa/plugin"
import { approvalFor } from "./Overrides.ts"
import { end } from "./PaymentOutcomes.ts"
import { giveBackPayment, paymentOf, settlePayment } from "./Payments.ts"
import type { Payment } from "./Sales.ts"
import { loadSale, notOpen } from "./SaleStore.ts"
import { authorOf, manage } from "./Terminals.ts"

class NotStuck extends conflict("PosNotStuck", "The payment began less than a minute ago. Wait for its answer.") {}
class CodeOnly extends invalid(
  "PosCodeOnly",
  "outcome",
  "outcome of a payment by code can only be cancelled: cancel it, and take it again."
) {}

/** What staff saw at the terminal. */
export const Ending = Schema.Struct({
  outcome: Schema.Literals(["collected", "cancelled"]).pipe(about("Result that the terminal showed.")),
  reason: Text,
  reference: Schema.optional(Text.annotate({ description: "The slip of the terminal." }))
})

const minute = 60_000

/** Refuses what is no stuck payment of an open sale. */
const requireStuck = Effect.fnUntraced(function*(
  call: PluginCall,
  { createdAt, provider, status, transactionId }: Payment,
  outcome: (typeof Ending.Type)["outcome"]
) {
  const { transaction } = yield* loadSale(call.db, transactionId)
  if (status !== "pending") return yield* InvalidTransition.of(`The payment is ${status}: it has its answer.`)
  const isOpen = transaction.status === "open" || transaction.status === "held"
  if (outcome === "collected" && !isOpen) return yield* notOpen(transaction)
  if (outcome === "collected" && provider === "gift-card") return yield* new CodeOnly()
  if ((yield* DateTime.nowAsDate).getTime() - createdAt.getTime() < minute) return yield* new NotStuck()
})

/**
 * Ends a payment whose provider does not say what became of it, as staff saw it. The provider is asked once more, and what it
 * says counts. 404; 403; 409 in its first minute; 422 when it has its answer.
 */
export const endPayment = Effect.fn("Payments.end")(function*(
  call: PluginCall,
  [transactionId, paymentId]: readonly [string, string],
  { outcome, reason, reference }: typeof Ending.Type,
  token: string | undefined
) {
  const payment = yield* paymentOf(call, transactionId, paymentId)
  const author = authorOf(call.actor)
  // A repeat of a request whose answer was lost.
  if (payment.status === outcome && payment.endedBy !== null) return payment
  yield* requireStuck(call, payment, outcome)
  const allowed = yield* approvalFor(call, { action: "payment", permission: manage, token, transactionId })
  return yield* allowed.during(Effect.gen(function*() {
    yield* Effect.ignoreCause(outcome === "collected" ? settlePayment(call, payment) : giveBackPayment(call, payment))
    const asked = yield* paymentOf(call, transactionId, paymentId)
    if (asked.status !== "pending") return asked
    return yield* end(call, asked, {
      status: outcome,
      failure: null,
      endedBy: allowed.by ?? author,
      endReason: reason,
      processedAt: yield* DateTime.nowAsDate,
      // The provider knows no payment that could be refunded there: it is one of an external terminal.
      ...(outcome === "collected" && asked.intentId === null ? { provider: null } : {}),
      ...(reference === undefined ? {} : { reference })
    })
  }))
})
