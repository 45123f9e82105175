import { Effect } from "effect"
import { countryCode, formatOf } from "../../src/domain/platform/addresses/CountryFormats.ts"
import type { TaxAdapter, TaxRequest } from "../../src/domain/tax/TaxAdapter.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { aGuestCart, aProduct, checkOut, putInto } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, at } from "../support/TestApp.ts"

/** Where the goods go. */
export const to = (country: string, state?: string) => ({
  shippingAddress: {
    line1: "1 Main St",
    city: "Town",
    postalCode: formatOf(countryCode(country) ?? "US").postalCode?.example ?? null,
    country,
    ...(state && { state })
  }
})

/** Makes a class of tax and gives its answer. */
export const aTaxClass = (body: object, as: typeof asAdmin = asAdmin) =>
  api("POST", "/api/tax/classes", { as, body: { rateBps: 1900, ...body } })

/** Makes a rate of a region and gives its answer. */
export const aTaxRate = (body: object, as: typeof asAdmin = asAdmin) =>
  api("POST", "/api/tax/rates", { as, body: { name: "VAT", country: "NL", rateBps: 2100, ...body } })

/** No class and no rate is left of what a test made, and no goods name a class. */
export const withoutRules = Effect.andThen(
  onDatabase((sql) =>
    Effect.andThen(
      sql`update catalog_entities set tax_class = null, tax_class_id = null where tax_class is not null`,
      sql`update variants set tax_class = null, tax_class_id = null where tax_class is not null`
    )
  ),
  Effect.forEach(["rates", "classes"], (kind) =>
    Effect.gen(function*() {
      const all = yield* api("GET", `/api/tax/${kind}?limit=100`, { as: asAdmin })
      yield* Effect.forEach(all.list("data"), (one) =>
        api("DELETE", `/api/tax/${kind}/${String(at(one, "id"))}`, { as: asAdmin }))
    }), { discard: true })
)

/** A product at a price, of a class where one is named. */
export const aTaxedProduct = Effect.fnUntraced(function*(price: number, taxClass?: string) {
  const id = yield* aProduct({ price })
  if (taxClass !== undefined) {
    yield* api("PATCH", `/api/catalog/entities/${id}`, { as: asAdmin, body: { taxClass } })
  }
  return id
})

/** A guest's purchase of one of each. */
export const buying = Effect.fnUntraced(function*(products: ReadonlyArray<string>, body: object = {}) {
  const cart = yield* aGuestCart()
  yield* Effect.forEach(products, (id) => putInto(cart, id), { discard: true })
  return { cart, order: yield* checkOut(cart, body) }
})

/** Totals of an order as its answer says them. */
export const totalsOf = (answer: Answer) => ({
  subtotal: answer.at("data.subtotal"),
  tax: answer.at("data.taxTotal"),
  included: answer.at("data.taxIncluded"),
  total: answer.at("data.grandTotal")
})

/** Taxes of the lines of an order. */
export const lineTaxesOf = (answer: Answer) =>
  answer.list("data.lineItems").map((_, index) => answer.at(`data.lineItems.${index}.taxAmount`))

/** A tax service that a test drives: calls can be made to fail, and what they said is kept. */
export const scriptedTaxService = (id = "scripted") => {
  const asked: Array<TaxRequest> = []
  const reported: Array<string> = []
  const voided: Array<string> = []
  const aborted: Array<boolean> = []
  let calculate: TaxAdapter["calculate"] = ({ lines }) => Promise.resolve({ lineTaxes: lines.map(() => 0) })
  let obstacle: Error | undefined
  const meet = () => obstacle === undefined ? Promise.resolve() : Promise.reject(obstacle)
  const adapter: TaxAdapter = {
    id,
    calculate: (request, signal) => {
      asked.push(request)
      signal.addEventListener("abort", () => aborted.push(true))
      return calculate(request, signal)
    },
    report: async ({ idempotencyKey }) => {
      await meet()
      reported.push(idempotencyKey)
    },
    void: async ({ idempotencyKey }) => {
      await meet()
      voided.push(idempotencyKey)
    }
  }
  return {
    adapter,
    asked,
    reported,
    voided,
    aborted,
    answers: (by: TaxAdapter["calculate"]) => {
      calculate = by
    },
    obstruct: (error: Error | undefined) => {
      obstacle = error
    }
  }
}
