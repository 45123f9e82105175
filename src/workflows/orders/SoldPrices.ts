import { Effect } from "effect"
import type { AlreadyTaxed } from "../../domain/checkout/AlreadyTaxed.ts"
import { CheckoutPricing } from "../../domain/checkout/CheckoutPricing.ts"
import { basketWithout, Quotes } from "../../domain/checkout/Quotes.ts"
import type { PaidTender, SoldGoods } from "../../domain/checkout/SoldGoods.ts"
import type { OrderPayment } from "../../domain/orders/Tender.ts"
import type { CollectedPayment } from "../../domain/payments/CollectedPayment.ts"
import { CollectedPaymentRepo } from "../../domain/payments/CollectedPaymentRepo.ts"
import { PaymentAdapters } from "../../domain/payments/PaymentAdapter.ts"
import { invalid } from "../../domain/platform/errors/ErrorKinds.ts"

class UnknownMethod extends invalid(
  "UnknownMethod",
  (index: number, _: string) => `tenders.${index}.method`,
  (_: number, method: string) => `"${method}" is no payment method of this deployment.`
) {}
class NotCollected extends invalid(
  "NotCollected",
  (index: number) => `tenders.${index}.paymentId`,
  (index: number) => `tenders.${index}.paymentId must name a payment that was collected with this method and amount.`
) {}

/** Goods whose prices a till wants to know: at most 500. */
export interface PriceListRequest extends Pick<SoldGoods, "currency" | "handedOverAt"> {
  readonly goods: ReadonlyArray<Pick<SoldGoods["lineItems"][number], "entityId" | "variantId">>
}

/** What decides the price of a sale. */
export type SoldTerms = Omit<
  SoldGoods,
  "reference" | "warehouseId" | "stock" | "consumes" | "returns" | "mails" | "soldAt"
>

export const totalOf = (tenders: ReadonlyArray<Pick<PaidTender, "amount">>) =>
  tenders.reduce((sum, { amount }) => sum + amount, 0)

/** A payment of a sale, with what `payments.collect` has noted of it. */
interface Paid {
  readonly payment: OrderPayment
  readonly collected: CollectedPayment | undefined
}

const paymentsOf = Effect.fnUntraced(function*(
  adapters: PaymentAdapters["Service"],
  tenders: ReadonlyArray<PaidTender>,
  collected: ReadonlyArray<CollectedPayment>
) {
  const paid: Array<Paid> = []
  for (const [index, { amount, label, method, paymentId, reference }] of tenders.entries()) {
    const adapter = adapters.byProvider(method)
    if (adapter === undefined) return yield* new UnknownMethod(index, method)
    if (amount === 0) continue
    const known = collected.find(({ id }) => id === paymentId)
    const isStoredValue = adapter.isStoredValue ?? false
    if (paymentId === undefined ? isStoredValue : known?.amount !== amount || known.provider !== method) {
      return yield* new NotCollected(index)
    }
    const payment: OrderPayment = {
      position: paid.length,
      provider: method,
      label: known?.label ?? label ?? method,
      intentId: known?.intentId ?? reference ?? "",
      isStoredValue,
      amount,
      captured: null,
      refunded: 0,
      needsShopper: false
    }
    paid.push({ payment, collected: known })
  }
  return paid
})

/** Only stored value can be taxed before: what was paid with it, and `further` minor units. */
const alreadyTaxedBy = (paid: ReadonlyArray<Paid>, further: number): AlreadyTaxed => ({ most }) => {
  const taxed = paid.filter(({ collected, payment }) => collected?.singlePurpose === true && payment.isStoredValue)
  return Effect.succeed(Math.min(most, further + totalOf(taxed.map(({ payment }) => payment))))
}

/** Prices sales, and reads the payments that they name. */
export const soldPricing = Effect.gen(function*() {
  const [quotes, pricing] = [yield* Quotes, yield* CheckoutPricing]
  const [adapters, collected] = [yield* PaymentAdapters, yield* CollectedPaymentRepo]
  const pricedOf = Effect.fnUntraced(function*(sold: SoldTerms, furtherTaxed = 0) {
    const basket = basketWithout(sold.currency, yield* quotes.linesOf(sold.lineItems), sold.email ?? null)
    const terms = {
      shippingTotal: sold.shippingTotal ?? 0,
      ...(sold.channel === undefined ? {} : { channel: sold.channel })
    }
    const claims = sold.tenders.flatMap(({ paymentId }) => paymentId === undefined ? [] : [paymentId])
    const paid = yield* paymentsOf(adapters, sold.tenders, claims.length === 0 ? [] : yield* collected.find(claims))
    const taxedAt = { ...sold, shippingAddress: sold.handedOverAt }
    const priced = yield* pricing.price(
      basket,
      taxedAt,
      null,
      () => Effect.succeed(terms),
      alreadyTaxedBy(paid, furtherTaxed)
    )
    return { claims, priced, payments: paid.map(({ payment }) => payment) }
  })

  /** Unit prices, steps and taxes of goods, those that cannot be sold left out. */
  const listOf = Effect.fnUntraced(function*({ currency, goods, handedOverAt }: PriceListRequest) {
    const lineItems = goods.map((one) => ({ ...one, quantity: 1 }))
    const basket = basketWithout(currency, yield* quotes.linesOf(lineItems))
    const terms = () => Effect.succeed({ shippingTotal: 0 })
    const { pricedCart } = yield* pricing.preview(basket, { shippingAddress: handedOverAt, isList: true }, null, terms)
    return pricedCart.lines.map(({ addedSteps = [], entityId, taxes = [], unitPrice, variantId }) => ({
      entityId,
      variantId,
      unitPrice,
      priceSteps: addedSteps,
      taxes: taxes.map(({ name, rate }) => ({ name, rate }))
    }))
  })
  return { listOf, pricedOf }
})
