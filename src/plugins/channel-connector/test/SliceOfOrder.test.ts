import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { OrderId, OrderLineId } from "stoa/plugin"
import type { SourceLine } from "../ExportsRepo.ts"
import { sliceOf } from "../SliceOfOrder.ts"
import { linesOfStore, type SlicedOrder } from "../SoldByStore.ts"

const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`

/** The same numbers in every run, from 0 to below `limit`. */
const numbersOf = (seed: number) => {
  let state = seed * 2_654_435_761 >>> 0
  return (limit: number) => {
    state = (Math.imul(state ^ state >>> 15, 2_246_822_519) + 0x9e3779b9) >>> 0
    return ((state ^ state >>> 13) >>> 0) % limit
  }
}

/** An order whose lines come from up to three stores, and some from none. */
const anOrder = (seed: number) => {
  const next = numbersOf(seed)
  const stores = 1 + next(3)
  const sources: Array<SourceLine> = []
  const lineItems = Array.from({ length: 1 + next(8) }, (_, n) => {
    const [quantity, totalPrice] = [1 + next(9), next(100_000)]
    const line = {
      id: OrderLineId.make(idOf(n + 1)),
      sku: null,
      title: `Thing ${n}`,
      quantity,
      refundedQuantity: next(3) === 0 ? next(quantity + 1) : 0,
      totalPrice,
      discountAmount: next(totalPrice + 1),
      taxAmount: next(20_000)
    }
    const store = next(stores + 1)
    if (store > 0) sources.push({ lineId: line.id, storeId: `s${store}`, externalVariantId: `v${n}` })
    return line
  })
  const order: SlicedOrder = {
    id: OrderId.make(idOf(0)),
    orderNumber: "1",
    currency: "EUR",
    customer: null,
    email: "ann@example.com",
    shippingAddress: { line1: "1 High Street" },
    shippingTotal: next(2_000),
    taxIncluded: next(2) === 0,
    lineItems
  }
  return { order, sources, stores: Array.from({ length: stores }, (_, n) => `s${n + 1}`) }
}

/** What the customer pays for these lines and the shipping. */
const costOf = ({ shippingTotal, taxIncluded }: SlicedOrder, lines: SlicedOrder["lineItems"]) =>
  lines.reduce(
    (sum, line) => sum + line.totalPrice - line.discountAmount + (taxIncluded ? 0 : line.taxAmount),
    shippingTotal
  )

const sliceFor = (order: SlicedOrder, storeId: string, sources: ReadonlyArray<SourceLine>) =>
  sliceOf({ order, own: linesOfStore(order, storeId, sources) })

describe("slices of orders", () => {
  it("lose no cent and no unit of 2,000 random orders of several stores", () => {
    for (let seed = 1; seed <= 2_000; seed++) {
      const { order, sources, stores } = anOrder(seed)
      const whole = { ...order, lineItems: order.lineItems.map((line) => ({ ...line, refundedQuantity: 0 })) }
      const slicesOf = (of: SlicedOrder) =>
        stores.flatMap((id) => Result.getOrUndefined(sliceFor(of, id, sources)) ?? [])
      const slices = slicesOf(whole)
      const foreign = whole.lineItems.filter(({ id }) => !sources.some(({ lineId }) => lineId === id))
      const rest = costOf({
        ...whole,
        shippingTotal: slices.some((one) => one.shippingTotal > 0) ? 0 : whole.shippingTotal
      }, foreign)
      assert.strictEqual(
        slices.reduce((sum, one) => sum + one.grandTotal, rest),
        costOf(whole, whole.lineItems),
        `order ${seed}`
      )
      for (const slice of [...slices, ...slicesOf(order)]) {
        const { grandTotal, lines, pricesIncludeTax, shippingTotal, taxTotal } = slice
        assert.isTrue(lines.every((one) => one.totalPrice === one.unitPrice * one.quantity && one.quantity > 0))
        const goods = lines.reduce((sum, one) => sum + one.totalPrice, 0)
        assert.strictEqual(grandTotal, goods + shippingTotal + (pricesIncludeTax ? 0 : taxTotal))
      }
      const units = slicesOf(order).flatMap(({ lines }) => lines).reduce((sum, one) => sum + one.quantity, 0)
      const own = order.lineItems.filter(({ id }) => sources.some(({ lineId }) => lineId === id))
      assert.strictEqual(units, own.reduce((sum, one) => sum + one.quantity - one.refundedQuantity, 0), `order ${seed}`)
    }
  })

  it("have the shipping only if their store ships every line", () => {
    for (let seed = 1; seed <= 500; seed++) {
      const { order, sources, stores } = anOrder(seed)
      for (const storeId of stores) {
        const slice = Result.getOrUndefined(sliceFor(order, storeId, sources))
        const isAll = sources.filter((one) => one.storeId === storeId).length === order.lineItems.length
        if (slice !== undefined) assert.strictEqual(slice.shippingTotal, isAll ? order.shippingTotal : 0)
      }
    }
  })

  it("have prices of whole minor units, the dearer ones first", () => {
    const { order } = anOrder(1)
    const money = { totalPrice: 1_100, discountAmount: 100, taxAmount: 0 }
    const three = {
      id: OrderLineId.make(idOf(1)),
      sku: null,
      title: "Thing",
      quantity: 3,
      refundedQuantity: 0,
      ...money
    }
    const slice = sliceFor({ ...order, lineItems: [three] }, "s1", [{
      lineId: three.id,
      storeId: "s1",
      externalVariantId: "v"
    }])
    assert.deepStrictEqual(
      Result.getOrThrow(slice).lines.map(({ quantity, totalPrice, unitPrice }) => [quantity, unitPrice, totalPrice]),
      [[1, 334, 334], [2, 333, 666]]
    )
  })
})
