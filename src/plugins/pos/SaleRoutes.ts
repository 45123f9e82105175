import { Effect, Schema } from "effect"
import { about, CurrencyCode, CustomerId, type PluginCall, Text } from "stoa/plugin"
import { completeSale, PriceChanged, voidSale } from "./Completion.ts"
import { overrideHeader, OverrideInvalid, OverrideRequired } from "./Overrides.ts"
import { PaymentPending } from "./PaymentOutcomes.ts"
import { TransactionView } from "./Sales.ts"
import { shownSale } from "./SaleStore.ts"
import { operate, routes } from "./Terminals.ts"

const Completed = Schema.Struct({
  transaction: TransactionView,
  checkoutRequest: Schema.Struct({
    cartId: Schema.String.annotate({ description: "The transaction's id, which is no cart: the sale is complete." }),
    currency: CurrencyCode,
    paymentMethodId: Schema.Literal("pos").pipe(about("Always pos.")),
    metadata: Schema.Struct({
      posTransactionId: Schema.String,
      posShiftId: Schema.String,
      posTerminalId: Schema.String
    }).pipe(about("Ids of the sale.")),
    customerId: Schema.optional(CustomerId)
  }).pipe(about("Body of a checkout, for older clients; sending it is not needed.")),
  message: Schema.String
})

const complete = Effect.fnUntraced(function*(call: PluginCall, id: string) {
  const transaction = yield* completeSale(call, id)
  const { currency, customerId, shiftId: posShiftId, terminalId: posTerminalId } = transaction
  return {
    transaction: yield* shownSale(call.db, transaction),
    checkoutRequest: {
      cartId: id,
      currency: CurrencyCode.make(currency),
      paymentMethodId: "pos" as const,
      metadata: { posTransactionId: id, posShiftId, posTerminalId },
      ...(customerId === null ? {} : { customerId })
    },
    message: "The sale is complete. Nothing is left to check out."
  }
})

export const saleRoutes = [
  routes.post("/transactions/:id/complete", {
    summary: "Complete a paid sale",
    description:
      "Makes its order. Repeating it answers the same. 404; 409 with another price, a pending payment or a " +
      "closed shift; 422 unless it is paid, and for goods that are not there.",
    permission: operate,
    repeatable: true,
    success: Completed,
    errors: [PriceChanged]
  }).handle((call) => complete(call, call.params.id)),
  routes.post("/transactions/:id/void", {
    summary: "Void a transaction",
    description: "Every payment is given back first. 404; 409 while one cannot be; 422 when it is completed or voided.",
    permission: operate,
    headers: overrideHeader,
    input: Schema.Struct({ reason: Text }),
    strict: true,
    repeatable: true,
    success: TransactionView,
    errors: [OverrideRequired, OverrideInvalid, PaymentPending]
  }).handle((call) => voidSale(call, call.params.id, call.input.reason, call.headers["x-pos-override"]))
]
