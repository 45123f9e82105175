import { Effect } from "effect"
import { itemLabel } from "../../domain/carts/Line.ts"
import type { TenderRequest } from "../../domain/checkout/Checkout.ts"
import {
  decodePricedCart,
  payableByStoredValue,
  type PinnedTender,
  type PricedCart,
  unpayableByStoredValue
} from "../../domain/checkout/PricedCart.ts"
import { ReservationRepo } from "../../domain/inventory/ReservationRepo.ts"
import { type PaymentAdapter, PaymentAdapters, type PaymentRequest } from "../../domain/payments/PaymentAdapter.ts"
import { CheckoutFailed } from "../../domain/platform/errors/ApiErrors.ts"
import { adapterOf } from "../payments/ProviderCalls.ts"
import { offersOf, requestOf } from "./CheckoutOffers.ts"
import type { CheckoutPayload } from "./CheckoutWorkflow.ts"

export interface CheckoutTender {
  readonly adapter: PaymentAdapter
  readonly request: PaymentRequest
  readonly label: string
  /** The checkout has split its total, and the order keeps its payments (`order_tenders`). */
  readonly isPart: boolean
}

type Payable = Pick<PricedCart, "customerId" | "grandTotal" | "paymentProvider" | "tenders">

const singleOf = Effect.fnUntraced(function*(paymentMethodId: string, provider: string | undefined) {
  const selected = (yield* PaymentAdapters).select(paymentMethodId)
  return provider === undefined || provider === selected.adapter.providerId
    ? selected
    : { adapter: yield* adapterOf(provider), token: paymentMethodId === provider ? null : paymentMethodId }
})

export const providerOf = ({ request }: CheckoutPayload) =>
  Effect.map(PaymentAdapters, (adapters) => adapters.select(request.paymentMethodId).adapter.providerId)

/**
 * The checkout id and the position make the idempotency key. The providers that were stored first win over the current
 * configuration, because they hold the money.
 */
export const paymentsOf = Effect.fnUntraced(function*(payload: CheckoutPayload, payable: Payable) {
  if (payable.tenders === undefined) {
    const { paymentMethodId, paymentMethodToken } = payload.request
    const { adapter, token } = yield* singleOf(paymentMethodId, payable.paymentProvider)
    const request = requestOf(payload, payable, payable.grandTotal, paymentMethodToken ?? token, 0)
    return [{ adapter, request, label: adapter.providerId, isPart: false }]
  }
  return yield* Effect.forEach(
    payable.tenders,
    ({ amount, label, provider, token }, position) =>
      Effect.map(adapterOf(provider), (adapter): CheckoutTender => ({
        adapter,
        label,
        isPart: true,
        request: requestOf(payload, payable, amount, token, position)
      }))
  )
})

const selectedBy = ({ method, token }: TenderRequest) =>
  Effect.flatMap(PaymentAdapters, (adapters) => {
    const selected = adapters.named(method)
    return selected === undefined
      ? Effect.fail(CheckoutFailed.of(`The payment method ${method} is not accepted here.`, {
        reason: "method_not_accepted",
        field: "tenders"
      }))
      : Effect.succeed({ ...selected, token: token ?? selected.token })
  })

const namedTwice = (tenders: ReadonlyArray<TenderRequest>): boolean => {
  const tokens = tenders.filter(({ token }) => token !== undefined).map(({ method, token }) => `${method} ${token}`)
  return new Set(tokens).size < tokens.length
}

/** Refuses stored value where it may pay for nothing of the cart. */
export const notByStoredValue = (priced: PricedCart) =>
  CheckoutFailed.of(
    `Gift cards and other stored value cannot pay for ${unpayableByStoredValue(priced).map(itemLabel).join("; ")}.`,
    { reason: "method_not_accepted", field: "tenders" }
  )

/** Offers of the payments that a checkout names, and last of its payment method. */
export const checkoutOffers = Effect.fnUntraced(function*(payload: CheckoutPayload) {
  const { checkoutId, request: { paymentMethodId, paymentMethodToken, tenders = [] } } = payload
  const [adapters, { holds }] = [yield* PaymentAdapters, yield* ReservationRepo]
  const earlier = Effect.flatMap(
    holds([checkoutId]),
    ([hold]) =>
      hold !== undefined && hold.pricing !== "null" ? decodePricedCart(hold.pricing) : Effect.succeed(undefined)
  )
  const named = tenders.map(({ amount, method, token }) => {
    const selected = adapters.named(method)
    return selected && { ...selected, token: token ?? selected.token, limit: amount }
  })
  const main = adapters.select(paymentMethodId)
  const instruments = [...named, { ...main, token: paymentMethodToken ?? main.token }]
  return { earlier, ...offersOf(payload, instruments, earlier) }
})

/**
 * Splits the total (contract, plugins §17.3-4): each payment takes what it can, single-purpose ones first, and the
 * payment method of the body takes the rest. Undefined for a single payment. 422 for a payment that is named twice,
 * cannot pay, or is unknown.
 */
export const splitTotal = Effect.fn("Checkout.splitTotal")(function*(
  payload: CheckoutPayload,
  priced: PricedCart,
  offers: Effect.Success<ReturnType<typeof checkoutOffers>>
) {
  const { request: { paymentMethodId, paymentMethodToken, tenders: wanted = [] } } = payload
  const mainMethod = Effect.map(
    singleOf(paymentMethodId, undefined),
    (one) => ({ ...one, token: paymentMethodToken ?? one.token })
  )
  let payable = payableByStoredValue(priced)
  if (wanted.length === 0 && payable < priced.grandTotal && (yield* mainMethod).adapter.isStoredValue === true) {
    return yield* notByStoredValue(priced)
  }
  const isSingle = wanted.length === 0 && priced.alreadyTaxed === undefined
  if (isSingle || priced.grandTotal === 0) return undefined
  if (namedTwice(wanted)) {
    return yield* CheckoutFailed.of("A payment is named twice.", { reason: "payment_named_twice", field: "tenders" })
  }
  // An earlier run has split the total already; what it has authorized would be missing from the balances now.
  const earlier = yield* offers.earlier
  if (earlier !== undefined) return earlier.tenders
  const tenders: Array<PinnedTender> = []
  let left = priced.grandTotal
  const hasGoods = payable > 0
  for (const index of offers.order()) {
    const tender = wanted[index]
    if (tender === undefined && !offers.isSinglePurpose(index)) continue
    const selected = yield* (tender === undefined ? mainMethod : selectedBy(tender))
    const most = Math.min(left, tender?.amount ?? left)
    const isStored = selected.adapter.isStoredValue === true
    if (isStored && !hasGoods) return yield* notByStoredValue(priced)
    const { amount, label } = yield* offers.offer(index, priced, selected, isStored ? Math.min(most, payable) : most)
    if (amount > 0) tenders.push({ provider: selected.adapter.providerId, token: selected.token, label, amount })
    left -= amount
    if (isStored) payable -= amount
  }
  if (left === 0) return tenders
  const main = yield* mainMethod
  if (main.adapter.isStoredValue === true && payable < left) return yield* notByStoredValue(priced)
  const isSpent = offers.isSinglePurpose(wanted.length)
  const { amount, label } = isSpent ? { amount: 0, label: "" } : yield* offers.offer(wanted.length, priced, main, left)
  if (amount < left) {
    return yield* CheckoutFailed.of("The payments do not cover the total.", {
      reason: "payments_too_low",
      field: "tenders"
    })
  }
  return [...tenders, { provider: main.adapter.providerId, token: main.token, label, amount }]
})
