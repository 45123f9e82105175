import { Schema, Struct } from "effect"
import { Cart, CartLine } from "../carts/Cart.ts"
import { ListPrice, ShownItem } from "../carts/Line.ts"
import { MinorUnits } from "../platform/money/Money.ts"
import { CartTotals } from "./CartTotals.ts"
import type { BasketLine } from "./PricedCart.ts"

const StockWarning = Schema.Literals(["insufficient_stock", "backorder", "low"])

export const ShownCartLine = Schema.Struct({
  ...CartLine.fields,
  ...ShownItem.fields,
  title: Schema.NullOr(ShownItem.fields.title).annotate({ description: "Null for an item that was deleted." }),
  unitPrice: Schema.NullOr(MinorUnits).annotate({
    description: "Price of a unit that a checkout would charge now. Null for a line that cannot be bought."
  }),
  priceChanged: Schema.Boolean.annotate({
    description: "unitPrice is not unitPriceSnapshot, the price when the line was last changed."
  }),
  listPrice: ListPrice,
  available: Schema.NullOr(Schema.Int).annotate({
    description: "Units that can be sold now; null for an item whose units are not counted."
  }),
  stockWarning: Schema.NullOr(StockWarning).annotate({
    description:
      "insufficient_stock: a checkout would refuse the quantity, over all lines of the item. backorder: some of its " +
      "units will come later. low: few are left."
  })
}).annotate({ identifier: "ShownCartLine" })
type ShownCartLine = typeof ShownCartLine.Type

/** A cart as its reader sees it: with its totals, and with lines that say what they are (contract-commerce §3). */
export const TotalledCart = Schema.Struct({
  ...Cart.fields,
  lineItems: Schema.Array(ShownCartLine),
  totals: CartTotals
}).annotate({ identifier: "TotalledCart" })

/** A line after a change; with the totals of its cart, where they are asked for, it is as a read shows it. */
export const ChangedLine = Schema.Union([Schema.Struct({ ...ShownCartLine.fields, totals: CartTotals }), CartLine])
export type ChangedLine = typeof ChangedLine.Type

const sellableOf = ({ entityId, variantId }: Pick<CartLine, "entityId" | "variantId">) => variantId ?? entityId

const nothingShown = { title: null, variantTitle: null, options: [], sku: null, slug: null, image: null }

const warningOf = (item: BasketLine | undefined, available: number, wanted: number) => {
  const { isLow = false, waiting = 0 } = item?.shown ?? {}
  if (wanted <= available) return isLow ? "low" : null
  const later = Math.max(0, (item?.backorders ?? 0) - waiting)
  return wanted <= Math.max(0, available) + later ? "backorder" : "insufficient_stock"
}

const showing = (basket: ReadonlyArray<BasketLine>, totals: CartTotals) => {
  const wanted = new Map<string, number>()
  for (const line of basket) wanted.set(sellableOf(line), (wanted.get(sellableOf(line)) ?? 0) + line.quantity)
  const items = new Map(basket.map((line) => [line.shown?.id, line]))
  const prices = new Map(totals.lines.map((line) => [line.id, line]))
  return (line: CartLine): ShownCartLine => {
    const [item, price] = [items.get(line.id), prices.get(line.id)]
    const unitPrice = price?.unitPrice ?? null
    const available = item?.counted === true ? item.shown?.units ?? 0 : null
    return {
      ...line,
      ...(item === undefined ? nothingShown : Struct.pick(item, Struct.keys(ShownItem.fields))),
      unitPrice,
      priceChanged: unitPrice !== null && unitPrice !== line.unitPriceSnapshot,
      listPrice: price?.listPrice ?? null,
      available,
      stockWarning: available === null ? null : warningOf(item, available, wanted.get(sellableOf(line)) ?? 0)
    }
  }
}

/** Shows a line of a cart, whose lines are all in the basket. */
export const shownLine = (line: CartLine, ...cart: Parameters<typeof showing>): ShownCartLine => showing(...cart)(line)

/** Shows the lines of a cart; a checkout takes stock for all lines of an item together. */
export const shownLines = (lines: ReadonlyArray<CartLine>, ...cart: Parameters<typeof showing>) =>
  lines.map(showing(...cart))
