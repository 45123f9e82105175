import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { aCartWith, aProduct, aWarehouse, type ProductOptions } from "../support/Purchase.ts"
import { sharedClient } from "../support/SharedClients.ts"
import { type Answer, api, asAdmin, asAnonymous, at, inOrganization, TestApp } from "../support/TestApp.ts"

/** Runs statements of a test on the service's own database; rows of the test are in the organization given. */
export const onDatabase = <A>(
  body: (sql: SqlClient.SqlClient, organizationId: string) => Effect.Effect<A, SqlError.SqlError>
) =>
  Effect.flatMap(
    TestApp,
    ({ databaseUrl, organizationId }) =>
      Effect.flatMap(SqlClient.SqlClient, (sql) => body(sql, organizationId)).pipe(
        Effect.provide(sharedClient(databaseUrl)),
        Effect.orDie
      )
  )

/** An actor with exactly these permissions. */
export const holding = (...permissions: ReadonlyArray<string>) => ({ ...asAnonymous, permissions })

/** The administrator of a second organization of the same deployment. */
export const elsewhere = inOrganization("org_other", asAdmin)

/** Makes the second organization exist; repeating it is harmless. */
export const openElsewhere = onDatabase((sql) =>
  sql`insert into organizations (id, slug, name) values ('org_other', 'other', 'Other') on conflict do nothing`
)

/** A product of the second organization. */
export const aForeignProduct = Effect.fnUntraced(function*(slug: string) {
  yield* openElsewhere
  const made = yield* api("POST", "/api/catalog/entities", {
    as: elsewhere,
    body: { type: "product", slug, status: "active", attributes: { title: slug } }
  })
  return made.text("data.id")
})

/** A guest's cart with so many units of a new product, and that product. */
export const aFilledCart = Effect.fnUntraced(function*(quantity = 1, options: ProductOptions = {}) {
  const entityId = yield* aProduct(options)
  return { ...yield* aCartWith(entityId, quantity), entityId }
})

/** A product in sizes S and M, each with separate stock; the product has the price. */
export const aProductInSizes = Effect.fnUntraced(function*(options: { readonly stock?: number } = {}) {
  const { stock = 10 } = options
  const entityId = yield* aProduct({ stock: 0 })
  yield* api("POST", `/api/catalog/entities/${entityId}/options`, {
    as: asAdmin,
    body: { name: "Size", values: ["S", "M"] }
  })
  const warehouseId = yield* aWarehouse()
  const variant = Effect.fnUntraced(function*(size: string) {
    const made = yield* api("POST", `/api/catalog/entities/${entityId}/variants`, {
      as: asAdmin,
      body: { options: { Size: size }, sku: `${entityId}-${size}` }
    })
    const variantId = made.text("data.id")
    yield* api("POST", "/api/inventory/adjust", {
      as: asAdmin,
      body: { entityId, variantId, warehouseId, type: "restock", quantity: stock }
    })
    return variantId
  })
  return { entityId, small: yield* variant("S"), medium: yield* variant("M") }
})

/** A customer with a cart: the actor, the profile's id and the cart's id. */
export const aCustomerCart = Effect.fnUntraced(function*(as: typeof asAdmin, currency = "USD") {
  const made = yield* api("POST", "/api/carts", { as, body: { currency } })
  return { as, customerId: made.text("data.customerId"), id: made.text("data.id") }
})

/** Puts one unit into a new cart of a signed-in shopper and checks it out. */
export const buyAs = Effect.fnUntraced(function*(as: typeof asAdmin, entityId: string, body: object = {}) {
  const cart = yield* aCustomerCart(as)
  yield* api("POST", `/api/carts/${cart.id}/items`, { as, body: { entityId, quantity: 1 } })
  return yield* api("POST", "/api/checkout", {
    as,
    body: { cartId: cart.id, paymentMethodId: "test", currency: "USD", ...body }
  })
})

/** Moves the end of a cart's life into the past. */
export const expire = (cartId: string) =>
  onDatabase((sql) => sql`update carts set expires_at = now() - interval '1 hour' where id = ${cartId}::uuid`)

/** Units on hand and reserved over all warehouses and variants. */
export const stockOf = Effect.fnUntraced(function*(entityId: string) {
  const levels = yield* api("GET", `/api/inventory/levels?entityId=${entityId}&limit=100`, { as: asAdmin })
  const sum = (field: string) =>
    levels.list("data").reduce((total: number, level) => total + Number(at(level, field)), 0)
  return { onHand: sum("quantityOnHand"), reserved: sum("quantityReserved") }
})

/** The newest orders that were created from a cart. */
export const ordersFrom = Effect.fnUntraced(function*(cartId: string) {
  const orders = yield* api("GET", "/api/orders?limit=100", { as: asAdmin })
  return orders.list("data").filter((order) => at(order, "metadata.cartId") === cartId)
})

/** A refused checkout leaves nothing behind: the cart can be used, no order exists, no unit is held. */
export const assertNothingLeft = Effect.fnUntraced(function*(cartId: string, entityId: string) {
  const cart = yield* api("GET", `/api/carts/${cartId}`, { as: asAdmin })
  assert.strictEqual(cart.at("data.status"), "active")
  assert.deepStrictEqual(yield* ordersFrom(cartId), [])
  assert.strictEqual((yield* stockOf(entityId)).reserved, 0)
})

/** A checkout that failed after its order was written left the order cancelled, and nothing else (contract §3.6). */
export const assertTakenBack = Effect.fnUntraced(function*(cartId: string, entityId: string) {
  const cart = yield* api("GET", `/api/carts/${cartId}`, { as: asAdmin })
  assert.strictEqual(cart.at("data.status"), "active")
  assert.isTrue((yield* ordersFrom(cartId)).every((order) => at(order, "status") === "cancelled"))
  assert.strictEqual((yield* stockOf(entityId)).reserved, 0)
})

/** Status and code of a refusal in one comparison. */
export const refused = (answer: Answer, status: number, code: string, about = "") =>
  assert.deepStrictEqual([answer.status, answer.at("error.code")], [status, code], about || JSON.stringify(answer.body))

/** A refusal of the checkout's pipeline with its text. */
export const checkoutFailed = (answer: Answer, message?: RegExp) => {
  refused(answer, 422, "CHECKOUT_FAILED")
  if (message !== undefined) assert.match(answer.text("error.message"), message)
}

/** Lines, promotions and totals of an order agree to the unit (contract §3.3). */
export const assertAddsUp = (answer: Answer, path = "data") => {
  const order = answer.at(path)
  const lines = answer.list(`${path}.lineItems`)
  const sum = (list: ReadonlyArray<unknown>, field: string) =>
    list.reduce((total: number, one) => total + Number(at(one, field)), 0)
  for (const line of lines) {
    assert.strictEqual(at(line, "totalPrice"), Number(at(line, "unitPrice")) * Number(at(line, "quantity")))
    assert.isAtLeast(Number(at(line, "discountAmount")), 0)
    assert.isAtMost(Number(at(line, "discountAmount")), Number(at(line, "totalPrice")))
  }
  const total = (field: string) => answer.number(`${path}.${field}`)
  assert.strictEqual(sum(lines, "totalPrice"), total("subtotal"))
  assert.strictEqual(sum(lines, "discountAmount"), total("discountTotal"))
  assert.strictEqual(sum(answer.list(`${path}.metadata.appliedPromotions`), "discountAmount"), total("discountTotal"))
  assert.strictEqual(
    total("subtotal") - total("discountTotal") + total("taxTotal") + total("shippingTotal"),
    total("grandTotal")
  )
  for (const field of ["subtotal", "discountTotal", "taxTotal", "shippingTotal", "grandTotal"]) {
    assert.isTrue(Number.isSafeInteger(at(order, field)), field)
  }
}
