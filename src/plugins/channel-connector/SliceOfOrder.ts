import { Array, Result } from "effect"
import { allocate, CurrencyCode } from "stoa/plugin"
import type { OrderSlice } from "./ChannelRecords.ts"
import { shipsAll, type SlicedOrder, type SoldByStore, type StoreLine } from "./SoldByStore.ts"

type Line = StoreLine["line"]

/** What units that were not refunded cost, and their tax. */
const moneyOf = ({ discountAmount, quantity, refundedQuantity, taxAmount, totalPrice }: Line) => {
  const units = [quantity - refundedQuantity, refundedQuantity]
  const [total = 0] = allocate(totalPrice - discountAmount, units)
  const [tax = 0] = allocate(taxAmount, units)
  return { total, tax }
}

/** Splits units whose price is no whole number: each part has one, and together they come to the total. */
const wholePrices = (total: number, quantity: number) => {
  const unitPrice = Math.floor(total / quantity)
  const dearer = total - unitPrice * quantity
  return [{ unitPrice: unitPrice + 1, quantity: dearer }, { unitPrice, quantity: quantity - dearer }]
    .filter((part) => part.quantity > 0)
}

const customerOf = (
  { customer, email, shippingAddress }: SlicedOrder
): Result.Result<OrderSlice["customer"], string> => {
  if (email === null) return Result.fail("The order has no e-mail address, which the store needs.")
  if (shippingAddress === null) return Result.fail("The order has no shipping address, which the store needs.")
  const { firstName, lastName, name } = shippingAddress
  const written = name ?? [firstName, lastName].filter(Boolean).join(" ")
  return Result.succeed({ email, shippingAddress, name: String(written || (customer?.name ?? "")) })
}

/**
 * What a store gets of an order (contract-tills-channels, amendment 49): its lines after discounts and without refunded units,
 * and the shipping if it ships every line. Fails with a sentence for staff.
 */
export const sliceOf = (sold: SoldByStore<SlicedOrder>): Result.Result<OrderSlice, string> =>
  Result.gen(function*() {
    const { order } = sold
    const own = sold.own.filter(({ line }) => line.quantity > line.refundedQuantity)
    const unknown = own.find(({ externalVariantId }) => externalVariantId === null)
    if (unknown !== undefined) return yield* Result.fail(`The store has no product for "${unknown.line.title}".`)
    const lines = own.flatMap(({ externalVariantId, line: { title, ...line } }) =>
      wholePrices(moneyOf({ title, ...line }).total, line.quantity - line.refundedQuantity).map((part) => ({
        externalVariantId: externalVariantId ?? "",
        sku: line.sku,
        title,
        ...part,
        totalPrice: part.unitPrice * part.quantity
      }))
    )
    if (!Array.isArrayNonEmpty(lines)) return yield* Result.fail("The store has nothing of the order to send.")
    const shippingTotal = shipsAll(sold) ? order.shippingTotal : 0
    const taxTotal = own.reduce((sum, { line }) => sum + moneyOf(line).tax, 0)
    const goods = lines.reduce((sum, { totalPrice }) => sum + totalPrice, 0)
    return {
      orderId: order.id,
      orderNumber: order.orderNumber,
      currency: CurrencyCode.make(order.currency),
      grandTotal: goods + shippingTotal + (order.taxIncluded ? 0 : taxTotal),
      shippingTotal,
      taxTotal,
      pricesIncludeTax: order.taxIncluded,
      lines,
      customer: yield* customerOf(order)
    }
  })
