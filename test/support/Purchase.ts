import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { api, asAdmin, type Call, TestApp } from "./TestApp.ts"

/** A request that the test takes for granted, and whose failure would show later as another error. */
const granted = Effect.fnUntraced(function*(path: string, call: Call) {
  const answer = yield* Effect.flatMap(TestApp, ({ prepare }) => prepare("POST", path, call))
  assert.include([200, 201], answer.status, `POST ${path}: ${JSON.stringify(answer.body)}`)
  return answer
})

/** A product that can be bought: active, priced, in stock if its type is counted. Amounts in minor units. */
export interface ProductOptions {
  readonly slug?: string
  /** Entity type; default `product`. */
  readonly type?: string
  readonly price?: number
  readonly stock?: number
  readonly currency?: string
}

let products = 0

/** The warehouse of the test's store, made on first use. */
export const aWarehouse = Effect.fnUntraced(function*(code = "MAIN") {
  const { prepare } = yield* TestApp
  const made = yield* prepare("POST", "/api/inventory/warehouses", { as: asAdmin, body: { name: code, code } })
  if (made.status === 201) return made.text("data.id")
  const all = yield* prepare("GET", "/api/inventory/warehouses", { as: asAdmin })
  const found = all.list("data").findIndex((_, index) => all.at(`data.${index}.code`) === code)
  return all.text(`data.${found}.id`)
})

/** Makes a product through the API and gives its id. */
export const aProduct = Effect.fnUntraced(function*(options: ProductOptions = {}) {
  const { currency = "USD", price = 1000, slug = `product-${++products}`, stock = 100, type = "product" } = options
  const made = yield* granted("/api/catalog/entities", {
    as: asAdmin,
    body: { type, slug, status: "active", attributes: { title: `Title of ${slug}` } }
  })
  const entityId = made.text("data.id")
  yield* granted("/api/pricing/prices", { as: asAdmin, body: { entityId, currency, amount: price } })
  if (stock > 0 && made.at("data.manageInventory") === true) {
    const warehouseId = yield* aWarehouse()
    yield* granted("/api/inventory/adjust", {
      as: asAdmin,
      body: { entityId, warehouseId, type: "restock", quantity: stock }
    })
  }
  return entityId
})

/** A guest with a cart: its id and the header that opens it. */
export const aGuestCart = Effect.fnUntraced(function*(currency = "USD", email?: string) {
  const made = yield* granted("/api/carts", { body: { currency, email } })
  return { id: made.text("data.id"), headers: { "x-cart-secret": made.text("data.secret") } }
})

export type GuestCart = Effect.Success<ReturnType<typeof aGuestCart>>

/** Puts a product into a guest's cart, for tests of what is answered. */
export const addTo = (cart: GuestCart, entityId: string, quantity = 1, query = "") =>
  api("POST", `/api/carts/${cart.id}/items${query}`, { headers: cart.headers, body: { entityId, quantity } })

/** Checks a guest's cart out; by the test method that always succeeds. */
export const checkOut = (cart: GuestCart, body: object = {}, headers: Readonly<Record<string, string>> = {}) =>
  api("POST", "/api/checkout", {
    headers: { ...cart.headers, ...headers },
    body: { cartId: cart.id, paymentMethodId: "test", currency: "USD", ...body }
  })

/** Puts a product into a guest's cart, which is taken for granted. */
export const putInto = (cart: GuestCart, entityId: string, quantity = 1) =>
  granted(`/api/carts/${cart.id}/items`, { headers: cart.headers, body: { entityId, quantity } })

/** A guest's cart with one product in it. */
export const aCartWith = Effect.fnUntraced(function*(entityId: string, quantity = 1, email?: string) {
  const cart = yield* aGuestCart("USD", email)
  yield* putInto(cart, entityId, quantity)
  return cart
})
