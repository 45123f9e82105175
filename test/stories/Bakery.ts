import { assert } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { giftCards } from "../../src/plugins/gift-cards/index.ts"
import { shiftedClock, TestTime } from "../../src/plugins/kit/testing/ShiftedClock.ts"
import { profileIdOf } from "../customers/CustomerFixtures.ts"
import { countedPayments } from "../pricing-properties/CountedPayments.ts"
import { api, asAdmin, asCustomer, testAppLayer } from "../support/TestApp.ts"

export const payments = countedPayments()

/** A bakery in Vienna: prices in euros contain their tax. */
export const bakery = Layer.provideMerge(
  testAppLayer({
    store: { timeZone: "Europe/Vienna", defaultCurrency: "EUR" },
    plugins: [giftCards()],
    payments: { adapters: [payments.adapter] },
    tax: { pricesIncludeTax: true }
  }),
  shiftedClock
)

/** Makes a record and gives its id. */
const make = Effect.fnUntraced(function*(path: string, body: object) {
  const made = yield* api("POST", `/api/${path}`, { as: asAdmin, body })
  assert.include([200, 201], made.status, `POST ${path}: ${JSON.stringify(made.body)}`)
  return made.text("data.id")
})

const aProduct = (slug: string, title: string, body: object) =>
  make("catalog/entities", { slug, status: "active", attributes: { title }, ...body })

/** Loaves of a kilo: 3 in stock, further ones wait. 4.90, from ten on 4.50, instead of 5.20. */
const breadOf = Effect.fnUntraced(function*(taxClassId: string) {
  const entityId = yield* aProduct("rye-bread", "Rye bread", { type: "product", taxClassId, allowBackorder: true })
  yield* make(`catalog/entities/${entityId}/options`, { name: "Loaf", values: ["1 kg"] })
  const variantId = yield* make(`catalog/entities/${entityId}/variants`, { options: { Loaf: "1 kg" }, sku: "RYE-1" })
  const item = { entityId, variantId }
  yield* make("pricing/prices", { ...item, currency: "EUR", amount: 490, compareAtAmount: 520 })
  yield* make("pricing/prices", { ...item, currency: "EUR", amount: 450, minQuantity: 10 })
  const warehouseId = yield* make("inventory/warehouses", { name: "Bakehouse", code: "BAKE" })
  yield* make("inventory/adjust", { ...item, warehouseId, type: "restock", quantity: 3 })
  return item
})

const pricedAt = Effect.fnUntraced(function*(entityId: string, amount: number) {
  yield* make("pricing/prices", { entityId, currency: "EUR", amount })
  return { entityId }
})

/** Rates of two countries for the same classes of goods. */
const taxes = Effect.gen(function*() {
  const food = yield* make("tax/classes", { name: "Food", rate: "10" })
  const books = yield* make("tax/classes", { name: "Books", rate: "10" })
  const standard = yield* make("tax/classes", { name: "Standard", rate: "20", isDefault: true })
  for (
    const [country, taxClassId, name, rate] of [
      ["AT", food, "USt", "10"],
      ["AT", books, "USt", "10"],
      ["AT", standard, "USt", "20"],
      ["DE", food, "MwSt", "7"],
      ["DE", books, "MwSt", "7"],
      ["DE", standard, "MwSt", "19"]
    ] as const
  ) yield* make("tax/rates", { name, country, taxClassId, rate })
  return { food, books, standard }
})

const shipping = Effect.fnUntraced(function*(taxClassId: string) {
  for (const [country, amount, name] of [["AT", 490, "Post"], ["DE", 990, "Parcel"]] as const) {
    const zoneId = yield* make("shipping/zones", { name: country, countries: [country] })
    yield* make("shipping/rates", {
      zoneId,
      name,
      currency: "EUR",
      amount,
      taxClassId,
      estimate: "1 to 3 working days"
    })
  }
})

/** 15 % off until a day, on which it is shortly before midnight in Vienna. */
const promotion = Effect.gen(function*() {
  const time = yield* TestTime
  const tomorrow = DateTime.add(DateTime.makeZonedUnsafe(time.now(), { timeZone: "Europe/Vienna" }), { days: 1 })
  const ends = DateTime.add(DateTime.startOf(tomorrow, "day"), { days: 1 })
  const code = { name: "Advent", code: "ADVENT", type: "percentage_off_order", value: 15 }
  yield* make("promotions", { ...code, validUntil: DateTime.formatIsoDate(tomorrow) })
  time.advance(DateTime.toEpochMillis(ends) - 600_000 - time.now())
  return { ends }
})

/** Opens the bakery: a bread, a workshop, a download and a gift card of 50.00. */
export const openBakery = Effect.gen(function*() {
  const { books, food, standard } = yield* taxes
  yield* shipping(standard)
  const workshop = yield* aProduct("workshop", "Sourdough workshop", { type: "service", taxClassId: standard })
  const recipes = yield* aProduct("recipes", "Recipes", { type: "digitalDownload", taxClassId: books })
  const card = yield* aProduct("gift-card", "Gift card", { type: "gift_card" })
  return {
    bread: yield* breadOf(food),
    workshop: yield* pricedAt(workshop, 8_900),
    recipes: yield* pricedAt(recipes, 1_290),
    giftCard: yield* pricedAt(card, 5_000),
    ...(yield* promotion)
  }
})

/** A person with a cart: a guest, or a customer who has signed in. */
export const aBuyer = Effect.fnUntraced(function*(name?: string) {
  const as = name === undefined ? {} : { as: asCustomer(name) }
  const made = yield* api("POST", "/api/carts", { ...as, body: { currency: "EUR" } })
  const cartId = made.text("data.id")
  return { cartId, call: { ...as, headers: { "x-cart-secret": made.text("data.secret") } } }
})
export type Buyer = Effect.Success<ReturnType<typeof aBuyer>>

/** A firm that pays no tax. */
export const anExemptFirm = Effect.fnUntraced(function*(name: string) {
  const customerId = yield* profileIdOf(asCustomer(name))
  const body = { taxExemption: { reason: "Diplomatic mission", number: "A-17" } }
  assert.strictEqual((yield* api("PATCH", `/api/customers/${customerId}`, { as: asAdmin, body })).status, 200)
  return yield* aBuyer(name)
})
