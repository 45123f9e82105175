import { DateTime, Effect, Schema } from "effect"
import { about, invalid, MinorUnits, type PluginCall, Text } from "stoa/plugin"
import { approvalFor, overrideHeader, OverrideInvalid, OverrideRequired } from "./Overrides.ts"
import { PaymentPending, PaymentRefused } from "./PaymentOutcomes.ts"
import { addPayment, giveBackPayment, NewPayment, OfExchange, paymentOf, settlePayment } from "./Payments.ts"
import { terminalOf } from "./ReaderPayments.ts"
import { leftOf, payments, PaymentView, transactions } from "./Sales.ts"
import { loadSale, notOpen } from "./SaleStore.ts"
import { shifts } from "./Shifts.ts"
import { Ending, endPayment } from "./StuckPayments.ts"
import { admin, manage, operate, routes } from "./Terminals.ts"

class TipNotAllowed extends invalid(
  "PosTipRefused",
  "amount",
  "amount of a tip can be set by card or cash, within 24 hours and before it is counted, where tipMode allows it."
) {}
class NoReaders extends invalid("PosNoReaders", "provider", "provider connects readers by itself.") {}
/** A payment, and what is left to pay. */
const Paid = Schema.Struct({
  ...PaymentView.fields,
  amountDue: MinorUnits.annotate({ description: "Amount that is still to pay, in minor units." })
})

const shown = Effect.fnUntraced(function*({ db }: PluginCall, payment: typeof payments.Row.Type) {
  const { payments: all, transaction } = yield* loadSale(db, payment.transactionId)
  return { ...payment, amountDue: transaction.status === "completed" ? 0 : leftOf(transaction, all) }
})

const remove = Effect.fn("Payments.remove")(
  function*(call: PluginCall, id: string, paymentId: string, token: string | undefined) {
    const { transaction } = yield* loadSale(call.db, id)
    if (transaction.status !== "open") return yield* notOpen(transaction)
    const payment = yield* paymentOf(call, id, paymentId)
    if (payment.method === "exchange") return yield* new OfExchange()
    const allowed = yield* approvalFor(call, { action: "payment", permission: manage, token, transactionId: id })
    return yield* allowed.during(giveBackPayment(call, payment))
  }
)

const day = 86_400_000

/** Notes a tip that was written on a receipt. */
const setTip = Effect.fn("Payments.setTip")(
  function*(call: PluginCall, id: string, paymentId: string, tip: number) {
    const { db } = call
    const { terminal } = yield* loadSale(db, id)
    const payment = yield* paymentOf(call, id, paymentId)
    const now = yield* DateTime.nowAsDate
    const isRecent = payment.processedAt !== null && now.getTime() - payment.processedAt.getTime() < day
    const isAllowed = terminal.tipMode !== "off" && payment.status === "collected" && payment.provider === null &&
      (payment.method === "cash" || payment.method === "card")
    if (!isRecent || !isAllowed) return yield* new TipNotAllowed()
    return yield* db.transaction(Effect.gen(function*() {
      const { closingId, shiftId, tipTotal, version } = yield* db.table(transactions).lock(id)
      const { method, status, tip: before } = yield* db.table(payments).lock(paymentId)
      const shift = yield* db.table(shifts).get(shiftId)
      const isCounted = closingId !== null || (method === "cash" && shift.status === "closed")
      if (isCounted || status !== "collected") return yield* new TipNotAllowed()
      yield* db.table(transactions).update(id, { tipTotal: tipTotal + tip - before, version: version + 1 })
      return yield* db.table(payments).update(paymentId, { tip })
    }))
  }
)

const errors = [PaymentPending, PaymentRefused]

const ofReaders = "Id of a payment provider with card readers."

export const paymentRoutes = [
  routes.post("/transactions/:id/payments", {
    summary: "Add a payment",
    description:
      "404 without the transaction; 409 while it has no answer, or nothing is left to pay; 422 when declined.",
    permission: operate,
    input: NewPayment,
    strict: true,
    repeatable: true,
    success: Paid,
    errors
  }).handle((call) => Effect.flatMap(addPayment(call, call.params.id, call.input), (payment) => shown(call, payment))),
  routes.get("/transactions/:id/payments/:paymentId", {
    summary: "Get a payment",
    description: "Asks the terminal about one that is pending. 404 without it.",
    permission: operate,
    success: Paid,
    errors
  }).handle((call) =>
    Effect.gen(function*() {
      const payment = yield* paymentOf(call, call.params.id, call.params.paymentId)
      const isReader = payment.provider !== null && payment.provider !== "gift-card"
      return yield* shown(call, isReader ? yield* settlePayment(call, payment) : payment)
    })
  ),
  routes.post("/transactions/:id/payments/:paymentId/retry", {
    summary: "Retry a pending payment",
    description: "Under the same key: no money is taken twice. 404; 409 without an answer; 422 when declined.",
    permission: operate,
    repeatable: true,
    success: Paid,
    errors
  }).handle((call) =>
    Effect.gen(function*() {
      const payment = yield* paymentOf(call, call.params.id, call.params.paymentId)
      return yield* shown(call, yield* settlePayment(call, payment))
    })
  ),
  routes.delete("/transactions/:id/payments/:paymentId", {
    summary: "Return a payment of an open transaction",
    description: "404 without it; 409 while it cannot be given back; 422 when the transaction is not open.",
    permission: operate,
    headers: overrideHeader,
    success: PaymentView,
    errors: [OverrideRequired, OverrideInvalid, PaymentPending]
  }).handle((call) => remove(call, call.params.id, call.params.paymentId, call.headers["x-pos-override"])),
  routes.post("/transactions/:id/payments/:paymentId/tip", {
    summary: "Set the tip of a payment",
    description: "Within 24 hours, by card or cash without a provider. 404, 422.",
    permission: operate,
    input: Schema.Struct({ amount: NewPayment.fields.amount }),
    strict: true,
    success: PaymentView
  }).handle((call) => setTip(call, call.params.id, call.params.paymentId, call.input.amount)),
  routes.post("/transactions/:id/payments/:paymentId/end", {
    summary: "End a pending payment that gets no answer",
    description:
      "As staff saw it at the terminal. The provider is asked once more, and what it says counts. 404; 409 in its first minute; "
      + "422 when it has its answer.",
    permission: operate,
    headers: overrideHeader,
    input: Ending,
    strict: true,
    repeatable: true,
    success: Paid,
    errors: [OverrideRequired, OverrideInvalid]
  }).handle((call) => {
    const which = [call.params.id, call.params.paymentId] as const
    return Effect.flatMap(
      endPayment(call, which, call.input, call.headers["x-pos-override"]),
      (payment) => shown(call, payment)
    )
  }),
  routes.post("/readers", {
    summary: "Connect a card reader",
    description: "By the code that it shows. 422 for an unknown provider.",
    permission: admin,
    input: Schema.Struct({
      provider: Text.pipe(about(ofReaders)),
      registrationCode: Text.pipe(about("Code that the reader shows.")),
      label: Text
    }),
    strict: true,
    success: Schema.Struct({
      provider: Schema.String.pipe(about(ofReaders)),
      readerId: Schema.String,
      label: Schema.String
    }),
    errors
  }).handle(({ input: { provider, ...reader } }) =>
    Effect.gen(function*() {
      const { register } = yield* terminalOf(provider)
      if (register === undefined) return yield* new NoReaders()
      const { readerId } = yield* Effect.catchTags(register(reader), {
        PaymentDeclined: ({ message }) => new PaymentRefused(message),
        PaymentUnknown: () => new PaymentPending()
      })
      return { provider, readerId, label: reader.label }
    })
  )
]
