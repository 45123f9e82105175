import { Effect, Schema, Struct } from "effect"
import { about, fieldsOf, MinorUnits, type PluginCall } from "stoa/plugin"
import { completeSale, PriceChanged } from "./Completion.ts"
import { begunExchange, type GivenRest, NewExchange, payoutOf, startExchange } from "./Exchanges.ts"
import { approvalFor, freely, overrideHeader, OverrideInvalid, OverrideRequired } from "./Overrides.ts"
import { PaymentPending, PaymentRefused } from "./PaymentOutcomes.ts"
import { addPayment, NewPayment } from "./Payments.ts"
import { requireWay } from "./Payouts.ts"
import { PaymentView, returnItems, sale, TransactionView } from "./Sales.ts"
import { loadSale, shownSale } from "./SaleStore.ts"
import { manage, operate, routes } from "./Terminals.ts"
import { NewReturn, takeBack } from "./UnlinkedReturns.ts"

const giftCard = Schema.optional(
  Schema.Struct({
    id: Schema.String,
    code: Schema.String.annotate({ description: "Only this answer has it." }),
    displayCode: Schema.String.annotate({ description: "The code, in groups for people." })
  })
).pipe(about("New card with the money; absent: it went back another way."))

const Returned = Schema.Struct({
  transaction: Schema.Struct(Struct.omit(TransactionView.fields, ["items", "payments", "amountDue", "cartId"])),
  returnItems: Schema.Array(Schema.Struct(fieldsOf(returnItems))).pipe(about("Goods that came back.")),
  refundTotal: MinorUnits.annotate({ description: "Amount that goes back, after fees, in minor units." }),
  payment: PaymentView.pipe(about("Payment by which the money went back.")),
  giftCard
})

const Exchanged = Schema.Struct({
  transaction: TransactionView,
  refundId: Schema.NullOr(Schema.String),
  returnTotal: MinorUnits,
  replacementOrderId: Schema.NullOr(Schema.String),
  replacementTotal: MinorUnits,
  netDelta: Schema.Int.annotate({ description: "Replacement less return: above 0 is to pay, below 0 went back." }),
  giftCard
}).annotate({ identifier: "PosExchange" })

const exchange = Effect.fnUntraced(function*(
  call: PluginCall,
  sent: typeof NewExchange.Type,
  token: string | undefined
) {
  const given: GivenRest = {}
  const begun = yield* begunExchange(call)
  const allowed = begun === undefined
    ? yield* approvalFor(call, { action: "exchange", permission: manage, token })
    : freely
  const work = Effect.gen(function*() {
    const { id, total, worth } = begun ?? (yield* startExchange(call, sent, allowed.by))
    if (total <= worth) {
      const undo = call.db.use(sale).move("void", id, { voidReason: "The exchange was refused." })
      const finish = Effect.gen(function*() {
        const { method } = yield* payoutOf(sent)
        const way = total < worth ? yield* requireWay(call, method, allowed, token) : freely
        yield* way.during(completeSale(call, id, given))
      })
      yield* Effect.tapCause(finish, () => Effect.ignore(undo))
    }
    return { id, total, worth }
  })
  const { id, total: replacementTotal, worth: returnTotal } = yield* allowed.during(work)
  const netDelta = replacementTotal - returnTotal
  const { transaction } = yield* loadSale(call.db, id)
  const { orderId: replacementOrderId, refundId } = transaction
  return {
    transaction: yield* shownSale(call.db, transaction),
    refundId,
    returnTotal,
    replacementOrderId,
    replacementTotal,
    netDelta,
    ...given
  }
})

const shared = { permission: operate, headers: overrideHeader, strict: true } as const
const errors = [OverrideRequired, OverrideInvalid, PaymentPending, PaymentRefused]

export const returnRoutes = [
  routes.post("/returns", {
    summary: "Return goods",
    description:
      "Of an order, or with the option `unlinkedReturns` without one: that takes pos:admin or an override. " +
      "404 without order, shift or terminal; 409 when nothing is left to give back; 422 for more units than are left.",
    ...shared,
    input: NewReturn,
    repeatable: true,
    success: Returned,
    errors
  }).handle((call) => takeBack(call, call.input, call.headers["x-pos-override"])),
  routes.post("/returns/:id/payments", {
    summary: "Add a payment to an exchange",
    description: "The same as for a transaction. 404; 409 when nothing is left to pay; 422 when it is completed.",
    permission: operate,
    input: NewPayment,
    strict: true,
    repeatable: true,
    success: PaymentView,
    errors
  }).handle((call) => addPayment(call, call.params.id, call.input)),
  routes.post("/returns/:id/complete", {
    summary: "Complete an exchange",
    description: "A return is complete when it is made: it is answered as it is. 404, 409, 422 as for a transaction.",
    permission: operate,
    repeatable: true,
    success: TransactionView,
    errors: [...errors, PriceChanged]
  }).handle((call) =>
    Effect.flatMap(completeSale(call, call.params.id), (transaction) => shownSale(call.db, transaction))
  ),
  routes.post("/exchanges", {
    summary: "Exchange goods of an order",
    description:
      "Completes at once, unless the replacement costs more: then its rest is paid and it is completed as a sale.",
    ...shared,
    input: NewExchange,
    repeatable: true,
    success: Exchanged,
    errors: [...errors, PriceChanged]
  }).handle((call) => exchange(call, call.input, call.headers["x-pos-override"]))
]
