import { Context, DateTime, Effect, Layer } from "effect"
import { changeable } from "../../domain/carts/Cart.ts"
import { Carts } from "../../domain/carts/Carts.ts"
import { PaymentAdapters } from "../../domain/payments/PaymentAdapter.ts"
import { currentOrganization } from "../../domain/platform/access/Actor.ts"
import { CheckoutFailed, Unavailable } from "../../domain/platform/errors/ApiErrors.ts"
import { invalid } from "../../domain/platform/errors/ErrorKinds.ts"
import { type CartId, newId } from "../../domain/platform/ids/Id.ts"
import { askProvider } from "../payments/ProviderCalls.ts"
import { TotalledCarts } from "./TotalledCarts.ts"

class NoSessions extends invalid(
  "NoSessions",
  "provider",
  (provider: string) => `provider must be one that takes payments before the checkout, and ${provider} is not.`
) {}

/** Payments that a wallet confirms before the checkout (contract-commerce §10). */
export class PaymentSessions extends Context.Service<PaymentSessions>()("stoa/workflows/carts/PaymentSessions", {
  make: Effect.gen(function*() {
    const [carts, totals, adapters] = yield* Effect.all([Carts, TotalledCarts, PaymentAdapters])

    /**
     * Opens a payment of what the cart costs now. 404, 409 while the cart is checked out; 422 when it has ended, cannot
     * be checked out or costs nothing, and for a provider without sessions; 503 when the provider gives no answer.
     */
    const open = Effect.fn("PaymentSessions.open")(function*(cartId: CartId, provider: string) {
      const now = DateTime.toDateUtc(yield* DateTime.now)
      yield* Effect.fromResult(changeable(yield* carts.get(cartId), now))
      const session = adapters.byProvider(provider)?.session
      if (session === undefined) return yield* new NoSessions(provider)
      const { amountDue: amount, currency, warnings } = yield* totals.of(cartId, {})
      const [warning] = warnings
      if (warning !== undefined) return yield* CheckoutFailed.of(warning.message)
      if (amount === 0) {
        return yield* CheckoutFailed.of("There is nothing to pay: check the cart out without a session.", {
          reason: "nothing_to_pay"
        })
      }
      const metadata = { cartId, organizationId: yield* currentOrganization }
      const opened = yield* Effect.catchTags(
        askProvider(session({ amount, currency, metadata, idempotencyKey: newId() })),
        {
          PaymentDeclined: ({ message }) =>
            Effect.fail(CheckoutFailed.of(message, { reason: "payment_declined", decline: message })),
          PaymentUnknown: () => Effect.fail(Unavailable.of())
        }
      )
      return { provider, amount, currency, ...opened }
    })

    return { open }
  })
}) {
  static readonly layer = Layer.effect(PaymentSessions, PaymentSessions.make)
}
