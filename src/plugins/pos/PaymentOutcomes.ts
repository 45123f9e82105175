import { Effect } from "effect"
import { apiError, conflict, type PluginCall } from "stoa/plugin"
import { type Payment, payments, transactions } from "./Sales.ts"

export class PaymentPending extends apiError(
  "PaymentPending",
  { status: 409, code: "PAYMENT_PENDING", retryAfter: 5 },
  "The payment has no answer yet. Read it again in a few seconds, or retry it."
) {}
export class PaymentRefused extends apiError(
  "PaymentRefused",
  { status: 422, code: "PAYMENT_DECLINED" },
  (message: string) => `The payment was declined: ${message}`
) {}
class Completed
  extends conflict("PosCompleted", "The transaction is completed. Refund its order to give money back.")
{}

export type Row = Omit<Payment, "organizationId" | "createdAt" | "updatedAt">

export const keyOf = ({ id }: Pick<Payment, "id">): string => `pos:${id}`

/** Changes what became of a payment, and its transaction with it; nothing if another request was faster. */
export const end = Effect.fnUntraced(function*(call: PluginCall, payment: Payment, change: Partial<Row>) {
  const { db } = call
  return yield* db.transaction(Effect.gen(function*() {
    const { id, rounding, status, tipTotal, version } = yield* db.table(transactions).lock(payment.transactionId)
    const known = yield* db.table(payments).lock(payment.id)
    if (known.status !== payment.status || known.failure !== payment.failure) return known
    if (status === "completed") return yield* new Completed()
    const after = yield* db.table(payments).update(payment.id, change)
    const counts = (one: Payment) => one.status === "failed" || one.status === "cancelled" ? 0 : 1
    const [before, now] = [counts(payment), counts(after)]
    yield* db.table(transactions).update(id, {
      version: version + 1,
      rounding: rounding + after.rounding * now - payment.rounding * before,
      tipTotal: tipTotal + after.tip * now - payment.tip * before
    })
    return after
  }))
})
