import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { type Answer, api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"
import { aTaxClass, aTaxedProduct, aTaxRate, buying, to } from "../tax/TaxedShop.ts"

/** Texts of the cells of the invoice's tax breakdown, row by row. */
const breakdownOf = (page: Answer) => {
  const table = /<h2>Tax breakdown<\/h2><table>.*?<tbody>(.*?)<\/tbody>/s.exec(String(page.body))?.[1] ?? ""
  return [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = ""]) =>
    [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell]) => cell)
  )
}

const invoiceOf = (order: Answer) => api("GET", `/api/orders/${order.text("data.id")}/invoice.html`, { as: asAdmin })

layer(testAppLayer({ shipping: { type: "flat", flatRate: 1000 } }), live)("taxes on invoices", (it) => {
  it.effect("shows each rate of the order with its name, to all places, with the part of shipping, or infers it", () =>
    Effect.gen(function*() {
      const books = yield* aTaxClass({ name: "Books", rateBps: 500 })
      yield* aTaxRate({ name: "GST", country: "CA", rateBps: undefined, rate: "5", appliesToShipping: true })
      yield* aTaxRate({ name: "QST", country: "CA", rateBps: undefined, rate: "9.975", appliesToShipping: false })
      yield* aTaxRate({
        name: "Reduced",
        country: "CA",
        rateBps: undefined,
        rate: "1.5",
        taxClassId: books.text("data.id"),
        appliesToShipping: false
      })
      const { order } = yield* buying([yield* aTaxedProduct(10_000), yield* aTaxedProduct(2000, "books")], to("CA"))
      const first = yield* invoiceOf(order)
      assert.deepStrictEqual(breakdownOf(first), [
        ["GST 5%", "$110.00", "$5.50"],
        ["QST 9.975%", "$100.00", "$9.98"],
        ["Reduced 1.5%", "$20.00", "$0.30"]
      ])
      yield* onDatabase((sql) => sql`update tax_rates set name = 'Renamed ' || name`)
      assert.strictEqual((yield* invoiceOf(order)).body, first.body)

      // An order of before, whose lines do not know their rates.
      const old = (yield* buying([yield* aTaxedProduct(10_000)], to("CA"))).order
      yield* onDatabase((sql) => sql`update order_lines set taxes = '[]' where order_id = ${old.text("data.id")}::uuid`)
      const [row = []] = breakdownOf(yield* invoiceOf(old))
      assert.deepStrictEqual([row[0], row[2]], ["15.5%", "$15.48"])
    }))

  it.effect("says why an exempt buyer pays no tax", () =>
    Effect.gen(function*() {
      const made = yield* api("POST", "/api/customers", { as: asAdmin, body: {} })
      const taxExemption = { reason: "Public <school>", number: "EX-17" }
      const customerId = made.text("data.id")
      yield* api("PATCH", `/api/customers/${customerId}`, { as: asAdmin, body: { taxExemption } })
      const lineItems = [{ entityId: yield* aTaxedProduct(10_000), quantity: 1 }]
      const body = { currency: "USD", customerId, lineItems, ...to("CA") }
      const order = yield* api("POST", "/api/orders", { as: asAdmin, body })
      yield* api("PATCH", `/api/orders/${order.text("data.id")}/status`, { as: asAdmin, body: { status: "confirmed" } })
      const page = yield* invoiceOf(order)
      assert.deepStrictEqual(breakdownOf(page), [])
      assert.include(String(page.body), "Exempt from tax: Public &lt;school&gt;, EX-17")
      yield* api("PATCH", `/api/customers/${customerId}`, { as: asAdmin, body: { taxExemption: null } })
      assert.strictEqual((yield* invoiceOf(order)).body, page.body)
    }))
})
