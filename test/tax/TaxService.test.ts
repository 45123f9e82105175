import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { OutsideFailed } from "../../src/domain/platform/modules/OutsideService.ts"
import { assertAddsUp, assertNothingLeft, checkoutFailed, onDatabase } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { checkOut } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"
import {
  aTaxClass,
  aTaxedProduct,
  aTaxRate,
  buying,
  lineTaxesOf,
  scriptedTaxService,
  to,
  totalsOf
} from "./TaxedShop.ts"

const silent = () => new Promise<never>(() => {})

/** Jobs about an order that were done, with what they came to. */
const doneFor = (order: Answer) =>
  onDatabase((sql) =>
    sql<{ readonly task_slug: string; readonly outcome: string | null; readonly status: string }>`select task_slug,
      output->>'outcome' as outcome, status from commerce_jobs
      where input->>'orderId' = ${order.text("data.id")} order by task_slug`
  )

const service = scriptedTaxService()
const refusing = testAppLayer({
  shipping: { type: "flat", flatRate: 500 },
  tax: { adapter: service.adapter, timeoutMs: 200, defaultFromAddress: { ...to("DE").shippingAddress } }
})

/** An order whose tax the service said, and the order's id. */
const aTaxedOrder = Effect.gen(function*() {
  service.answers(({ lines }) => Promise.resolve({ lineTaxes: lines.map(() => 10) }))
  const { order } = yield* buying([yield* aTaxedProduct(1000)], to("FR"))
  return { order, id: order.text("data.id") }
})

const become = (id: string, status: string) =>
  api("PATCH", `/api/orders/${id}/status`, { as: asAdmin, body: { status } })

const reported = (id: string) => eventually("the report", Effect.sync(() => service.reported.includes(`${id}:report`)))
const voided = (id: string) => eventually("the void", Effect.sync(() => service.voided.includes(`${id}:void`)))

layer(refusing, live)("with a tax service a checkout", (it) => {
  it.effect("taxes a checkout by the service, line by line and with its shipping", () =>
    Effect.gen(function*() {
      service.answers(({ lines }) =>
        Effect.succeed({ lineTaxes: lines.map(({ amount }) => amount / 10), shippingTax: 50 })
      )
      yield* aTaxClass({ name: "Toys & Games", isActive: false })
      const products = [yield* aTaxedProduct(1000, "toys-games"), yield* aTaxedProduct(2000)]
      const { order } = yield* buying(products, to("FR"))
      assert.deepStrictEqual(totalsOf(order), { subtotal: 3000, tax: 350, included: false, total: 3850 })
      assertAddsUp(order)
      assert.deepStrictEqual(order.at("data.taxes"), [{ name: "Tax", rate: null, base: 3500, amount: 350 }])
      const asked = service.asked.at(-1)
      assert.deepStrictEqual(asked?.lines.map(({ taxClass }) => taxClass), ["Toys & Games", null])
      assert.deepInclude(asked, {
        currency: "USD",
        shippingTotal: 500,
        taxIncluded: false,
        organizationId: "org_default"
      })
      assert.deepStrictEqual([asked?.address?.country, asked?.from?.country], ["FR", "DE"])
    }))

  it.effect("reports an order after its creation and voids it when it is cancelled, once each", () =>
    Effect.gen(function*() {
      const { id, order } = yield* aTaxedOrder
      yield* reported(id)
      yield* become(id, "cancelled")
      yield* voided(id)
      assert.lengthOf(service.reported.filter((key) => key === `${id}:report`), 1)
      const done = Effect.map(doneFor(order), (jobs) => jobs.every(({ status }) => status === "succeeded") && jobs)
      const jobs = yield* eventually("both jobs", Effect.map(done, (jobs) => jobs && jobs.length === 2 && jobs))
      assert.deepStrictEqual(jobs.map(({ outcome }) => outcome), ["reported", "voided"])
    }))

  it.effect("voids the tax of a refunded order, and of no other status", () =>
    Effect.gen(function*() {
      const { id } = yield* aTaxedOrder
      for (const status of ["confirmed", "processing", "fulfilled"]) yield* become(id, status)
      yield* reported(id)
      assert.notInclude(service.voided, `${id}:void`)
      yield* become(id, "refunded")
      yield* voided(id)
    }))

  it.effect("voids the tax of an order whose money is refunded in full, also in a status that stays", () =>
    Effect.gen(function*() {
      const { id, order } = yield* aTaxedOrder
      const refund = (amount: number) =>
        api("POST", `/api/orders/${id}/refunds`, { as: asAdmin, body: { amount, reason: "damaged" } })
      assert.isBelow((yield* refund(10)).status, 300)
      yield* eventually(
        "the report",
        Effect.map(doneFor(order), (jobs) => jobs.some(({ outcome }) => outcome === "reported"))
      )
      assert.notInclude(service.voided, `${id}:void`)
      assert.isBelow((yield* refund(order.number("data.grandTotal") - 10)).status, 300)
      yield* voided(id)
      assert.strictEqual((yield* api("GET", `/api/orders/${id}`, { as: asAdmin })).at("data.status"), "pending")
    }))

  it.effect("does not report an order that was cancelled before the service could be reached", () =>
    Effect.gen(function*() {
      service.obstruct(new Error("down"))
      const { id, order } = yield* aTaxedOrder
      const failedOnce = onDatabase((sql) =>
        sql`select 1 from commerce_jobs where input->>'orderId' = ${id} and attempts = 1 and status = 'pending'`
      )
      yield* eventually("a report that failed", Effect.map(failedOnce, (rows) => rows.length === 1))
      // Its next try is half a minute away.
      service.obstruct(undefined)
      yield* become(id, "cancelled")
      yield* voided(id)
      yield* onDatabase((sql) => sql`update commerce_jobs set wait_until = null where input->>'orderId' = ${id}`)
      const skipped = Effect.map(
        doneFor(order),
        (jobs) => jobs.some(({ outcome, task_slug: task }) => task === "tax/report" && outcome === "skipped")
      )
      yield* eventually("the report's end", skipped)
      assert.notInclude(service.reported, `${id}:report`)
    }))

  it.effect("does not ask the service where a rate of the store says the tax", () =>
    Effect.gen(function*() {
      yield* aTaxRate({ country: "NL", rateBps: 2100 })
      const before = service.asked.length
      const { order } = yield* buying([yield* aTaxedProduct(1000)], to("NL"))
      assert.strictEqual(order.at("data.taxTotal"), 315)
      assert.strictEqual(service.asked.length, before)
      assert.deepStrictEqual(yield* doneFor(order), [])
    }))

  it.effect("refuses a checkout whose tax service gives no valid answer, and leaves nothing behind", () =>
    Effect.gen(function*() {
      const failures: ReadonlyArray<Parameters<typeof service.answers>[0]> = [
        silent,
        () => Effect.never,
        () => Promise.reject(new Error("down")),
        () => Effect.fail(new OutsideFailed({ cause: "down" })),
        () => {
          throw new Error("broken")
        },
        () => Promise.resolve({ lineTaxes: [] }),
        () => Promise.resolve({ lineTaxes: [0.5] }),
        () => Promise.resolve({ lineTaxes: [-1] }),
        () => Promise.resolve({ lineTaxes: [1], shippingTax: Number.NaN }),
        () => Promise.resolve(JSON.parse("null"))
      ]
      const product = yield* aTaxedProduct(1000)
      for (const failure of failures) {
        service.answers(failure)
        const { cart, order } = yield* buying([product], to("FR"))
        checkoutFailed(order, /tax could not be calculated/)
        yield* assertNothingLeft(cart.id, product)
      }
      assert.isAtLeast(service.aborted.length, 2)
      service.answers(({ lines }) => Promise.resolve({ lineTaxes: lines.map(() => 0) }))
      const { cart } = yield* buying([])
      assert.strictEqual((yield* checkOut(cart, to("FR"))).status, 422)
    }))
})

const spare = scriptedTaxService("spare")
const including = testAppLayer({
  shipping: { type: "flat", flatRate: 1190 },
  tax: {
    pricesIncludeTax: true,
    adapter: spare.adapter,
    timeoutMs: 200,
    fallbackRateBps: 1900
  }
})

layer(including, live)("with tax in its prices a checkout", (it) => {
  it.effect("charges prices that include tax, and shows the tax", () =>
    Effect.gen(function*() {
      yield* aTaxRate({ country: "NL", rateBps: 1900 })
      const products = [yield* aTaxedProduct(1190), yield* aTaxedProduct(999)]
      const { order } = yield* buying(products, to("NL"))
      assert.deepStrictEqual(totalsOf(order), { subtotal: 2189, tax: 350 + 190, included: true, total: 2189 + 1190 })
      assert.strictEqual(order.at("data.amountCaptured"), 2189 + 1190)
      const [one = 0, other = 0] = lineTaxesOf(order).map(Number)
      assert.strictEqual(one + other, 540)
      const read = yield* api("GET", `/api/orders/${order.text("data.id")}`, { as: asAdmin })
      assert.deepStrictEqual(totalsOf(read), totalsOf(order))
    }))

  it.effect("refunds prices and their tax in full", () =>
    Effect.gen(function*() {
      const { order } = yield* buying([yield* aTaxedProduct(1190)], to("NL"))
      const cancelled = yield* api("PATCH", `/api/orders/${order.text("data.id")}/status`, {
        as: asAdmin,
        body: { status: "cancelled" }
      })
      assert.strictEqual(cancelled.at("data.refundedTotal"), 2380)
    }))

  it.effect("takes the flat rate of a silent service, and still reports the order", () =>
    Effect.gen(function*() {
      spare.answers(silent)
      const { order } = yield* buying([yield* aTaxedProduct(1190)], to("FR"))
      assert.deepStrictEqual(totalsOf(order), { subtotal: 1190, tax: 380, included: true, total: 2380 })
      const key = `${order.text("data.id")}:report`
      yield* eventually("the report", Effect.sync(() => spare.reported.includes(key)))
    }))

  it.effect("shows the tax that the service says, on what the price is without it", () =>
    Effect.gen(function*() {
      spare.answers(({ lines }) => Promise.resolve({ lineTaxes: lines.map(() => 190), shippingTax: 190 }))
      const { order } = yield* buying([yield* aTaxedProduct(1190)], to("FR"))
      assert.deepStrictEqual(order.at("data.taxes"), [{ name: "Tax", rate: null, base: 2000, amount: 380 }])
    }))

  it.effect("ignores an answer with more tax than price", () =>
    Effect.gen(function*() {
      spare.answers(({ lines }) => Promise.resolve({ lineTaxes: lines.map(({ amount }) => amount + 1) }))
      const { order } = yield* buying([yield* aTaxedProduct(1190)], to("FR"))
      assert.strictEqual(order.at("data.taxTotal"), 380)
    }))

  it.effect("refuses an order in the table whose tax does not add up", () =>
    Effect.gen(function*() {
      const { order } = yield* buying([yield* aTaxedProduct(1190)], to("NL"))
      const id = order.text("data.id")
      for (const set of ["tax_included = false", "tax_total = grand_total + 1"]) {
        const written = yield* onDatabase((sql) =>
          Effect.result(sql`update orders set ${sql.literal(set)} where id = ${id}::uuid`)
        )
        assert.strictEqual(written._tag, "Failure", set)
      }
    }))
})
