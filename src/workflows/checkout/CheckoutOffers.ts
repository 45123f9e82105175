import { Effect, Result } from "effect"
import { type AlreadyTaxed, nothingTaxed } from "../../domain/checkout/AlreadyTaxed.ts"
import type { PricedCart } from "../../domain/checkout/PricedCart.ts"
import { keyAt } from "../../domain/orders/Tender.ts"
import type { PaymentOffer, PaymentRequest, SelectedPayment } from "../../domain/payments/PaymentAdapter.ts"
import type { CurrentActor } from "../../domain/platform/access/Actor.ts"
import { CheckoutFailed } from "../../domain/platform/errors/ApiErrors.ts"
import { askProvider } from "../payments/ProviderCalls.ts"
import type { CheckoutPayload } from "./CheckoutWorkflow.ts"

type Asking = Pick<CheckoutPayload, "actor" | "checkoutId"> & {
  readonly request: Pick<CheckoutPayload["request"], "cartId" | "currency">
}

/** A payment that a cart or checkout names; `limit` is the most that it may pay. */
interface Instrument extends SelectedPayment {
  readonly limit?: number | undefined
}

type Buyer = Pick<PricedCart, "customerId">

export const requestOf = (
  { actor, checkoutId, request }: Asking,
  { customerId }: Buyer,
  amount: number,
  paymentMethodToken: string | null,
  position: number
): PaymentRequest => ({
  amount,
  currency: request.currency,
  orderId: checkoutId,
  customerId,
  paymentMethodToken,
  metadata: {
    orderId: checkoutId,
    organizationId: actor.organizationId,
    checkoutId,
    cartId: request.cartId
  },
  idempotencyKey: keyAt(checkoutId, position)
})

const ask = Effect.fnUntraced(function*(
  asking: Asking,
  buyer: Buyer,
  { adapter, token }: SelectedPayment,
  most: number
) {
  const all: PaymentOffer = { amount: most, label: adapter.providerId }
  if (adapter.offer === undefined) return all
  const request = requestOf(asking, buyer, most, token, 0)
  const offer = yield* Effect.mapError(
    askProvider(adapter.offer(request)),
    ({ message }) => CheckoutFailed.of(message, { reason: "payment_declined", field: "tenders", decline: message })
  )
  return { ...offer, amount: Math.min(offer.amount, most) }
})

/**
 * Offers of the payments that a cart or checkout names; holds nothing. `earlier` is what an earlier run of the same
 * checkout decided, whose holds are missing from the balances now.
 */
export const offersOf = (
  asking: Asking,
  instruments: ReadonlyArray<Instrument | undefined>,
  earlier: Effect.Effect<PricedCart | undefined, never, CurrentActor> = Effect.succeed(undefined)
) => {
  const asked = new Map<Instrument, Result.Result<PaymentOffer, CheckoutFailed>>()
  /** What each single-purpose instrument pays. */
  const parts = new Map<Instrument, number>()
  const candidates = instruments.flatMap((one) => one?.adapter.hasSinglePurpose === true ? [one] : [])

  const askedFirst: AlreadyTaxed = Effect.fnUntraced(function*({ customerId, most }) {
    parts.clear()
    if (most === 0) return 0
    const decided = yield* earlier
    if (decided !== undefined) return Math.min(most, decided.alreadyTaxed ?? 0)
    let left = most
    for (const one of candidates) {
      const known = asked.get(one) ??
        (yield* Effect.result(ask(asking, { customerId }, one, Number.MAX_SAFE_INTEGER)))
      asked.set(one, known)
      if (Result.isFailure(known) || known.success.singlePurpose !== true) continue
      const part = Math.min(left, known.success.amount, one.limit ?? left)
      parts.set(one, part)
      left -= part
    }
    return most - left
  })

  const isFirst = (one: Instrument | undefined) => one !== undefined && parts.has(one)

  return {
    alreadyTaxed: candidates.length === 0 ? nothingTaxed : askedFirst,
    isSinglePurpose: (index: number) => isFirst(instruments[index]),
    /** The places of the payments in the order in which they pay: single-purpose ones first. */
    order: () =>
      [...instruments.keys()].sort((one, other) =>
        Number(isFirst(instruments[other])) - Number(isFirst(instruments[one]))
      ),
    /** The part of an amount that the payment at a place takes; 422 for one that cannot pay. */
    offer: Effect.fnUntraced(function*(index: number, buyer: Buyer, selected: SelectedPayment, most: number) {
      const one = instruments[index]
      const known = one && asked.get(one)
      const { amount, label } = yield* known === undefined
        ? ask(asking, buyer, selected, most)
        : Effect.fromResult(known)
      return { amount: Math.min((one && parts.get(one)) ?? amount, most), label }
    })
  }
}
