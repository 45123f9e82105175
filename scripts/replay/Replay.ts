import { Effect } from "effect"
import { differences, invoiceTotals } from "./Comparison.ts"
import type { Invoice, InvoiceBook } from "./InvoiceBook.ts"
import { readInvoices } from "./InvoiceFile.ts"
import { checkoutKey, ordersPlaced, purchase, readOrder, rounds } from "./Purchases.ts"
import { ReplayFailed } from "./ReplayFailed.ts"
import { type CountryTotals, printReport, type ReplayResult } from "./ReplayReport.ts"
import { type Shop, shopAt } from "./ShopClient.ts"
import {
  lanes,
  needsOf,
  pricesNow,
  putBack,
  receiveStock,
  setPrices,
  stockProducts,
  type StoredGood
} from "./Stockroom.ts"

export interface ReplayOptions {
  /** Address of the running service, without a path. */
  readonly baseUrl: string
  /** An API key of the role admin. */
  readonly key: string
  /** The CSV file. */
  readonly path: string
  readonly print: (line: string) => void
}

interface Bought {
  readonly invoice: Invoice
  readonly outcome: Effect.Success<ReturnType<typeof purchase>>
}

const answering = (baseUrl: string) =>
  Effect.tryPromise({
    try: () => fetch(`${baseUrl}/api/health`),
    catch: () => new ReplayFailed({ message: `Nothing answers at ${baseUrl}. Start the service first: npm start` })
  })

/** Buys the invoices that no order stands for yet. */
const buyAll = Effect.fnUntraced(
  function*(
    shop: Shop,
    invoices: ReadonlyArray<Invoice>,
    idOf: (slug: string) => string,
    print: (line: string) => void
  ) {
    const prices = yield* pricesNow(shop)
    const bought: Array<Bought> = []
    let [pricesSet, unitsReceived] = [0, 0]
    for (const round of rounds(invoices, lanes)) {
      const needs = needsOf(round, idOf)
      pricesSet += yield* setPrices(shop, prices, needs.prices)
      unitsReceived += yield* receiveStock(shop, needs.units)
      bought.push(
        ...yield* Effect.forEach(
          round,
          (invoice) => Effect.map(purchase(shop, invoice, idOf), (outcome) => ({ invoice, outcome })),
          { concurrency: lanes }
        )
      )
      print(`purchases: ${bought.length} of ${invoices.length}`)
    }
    return { bought, pricesSet, unitsReceived }
  }
)

const returnAll = Effect.fnUntraced(
  function*(shop: Shop, book: InvoiceBook, goodOf: (slug: string) => StoredGood) {
    const slugs = [...new Set(book.returns.map(({ slug }) => slug))]
    const units = yield* Effect.forEach(
      slugs,
      (slug) => putBack(shop, goodOf(slug), book.returns.filter((one) => one.slug === slug)),
      { concurrency: lanes }
    )
    return units.reduce((sum, one) => sum + one, 0)
  }
)

const byCountry = (invoices: ReadonlyArray<Invoice>): ReadonlyMap<string, CountryTotals> => {
  const countries = new Map<string, CountryTotals>()
  for (const invoice of invoices) {
    const { subtotal, units } = invoiceTotals(invoice)
    const known = countries.get(invoice.country) ?? { orders: 0, units: 0, subtotal: 0 }
    countries.set(invoice.country, {
      orders: known.orders + 1,
      units: known.units + units,
      subtotal: known.subtotal + subtotal
    })
  }
  return countries
}

/** Reads every order back from the service and holds it against the file. */
const compareAll = (shop: Shop, orderIds: ReadonlyArray<readonly [Invoice, string]>) =>
  Effect.map(
    Effect.forEach(
      orderIds,
      ([invoice, id]) => Effect.map(readOrder(shop, id), (order) => differences(invoice, order)),
      { concurrency: lanes }
    ),
    (lists) => lists.flat()
  )

/**
 * Feeds a file of real invoices through the public API of a running service: products, prices, stock, one purchase per
 * invoice, returns; then compares every order with its invoice to the penny. A second run finds what the first one made
 * and changes nothing. Fails where the service refuses what it must take; a difference is part of the result.
 */
export const replay = Effect.fnUntraced(function*({ baseUrl, key, path, print }: ReplayOptions) {
  const book = yield* readInvoices(path)
  print(`${path}: ${book.lines} lines, ${book.invoices.length} invoices, ${book.goods.length} products`)
  yield* answering(baseUrl)
  const shop = shopAt(baseUrl, key)
  const goods = yield* stockProducts(shop, book.goods)
  const goodOf = (slug: string): StoredGood => {
    const good = goods.get(slug)
    if (good === undefined) throw new Error(`${slug} was not stocked`)
    return good
  }
  const created = [...goods.values()].filter((good) => good.created).length
  print(`products: ${created} created, ${goods.size - created} found`)

  const before = yield* ordersPlaced(shop)
  const open = book.invoices.filter(({ number }) => !before.has(checkoutKey(number)))
  const { bought, pricesSet, unitsReceived } = yield* buyAll(shop, open, (slug) => goodOf(slug).id, print)
  const unitsReturned = yield* returnAll(shop, book, goodOf)

  const orders = book.invoices.flatMap((invoice) => {
    const id = before.get(checkoutKey(invoice.number))?.id
    return id === undefined ? [] : [[invoice, id] as const]
  })
  const placed = bought.flatMap(({ invoice, outcome }) =>
    outcome._tag === "Created" ? [[invoice, outcome.id] as const] : []
  )
  const refusals = bought.flatMap(({ invoice, outcome }) =>
    outcome._tag === "Refused" ? [`invoice ${invoice.number} was refused: ${outcome.reason}`] : []
  )
  const result: ReplayResult = {
    linesRead: book.lines,
    productsCreated: created,
    productsFound: goods.size - created,
    pricesSet,
    unitsReceived,
    unitsReturned,
    ordersPlaced: placed.length,
    ordersFound: orders.length,
    countries: byCountry([...orders, ...placed].map(([invoice]) => invoice)),
    refused: book.refused,
    differences: [...refusals, ...yield* compareAll(shop, [...orders, ...placed])]
  }
  printReport(result, print)
  return result
})
