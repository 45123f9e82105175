import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { attach, upload, withShelf } from "../media/MediaFixtures.ts"
import { addTo, aGuestCart, aProduct, aWarehouse, checkOut, type GuestCart, putInto } from "../support/Purchase.ts"
import { api, asAdmin, at, withSharedApp } from "../support/TestApp.ts"

const post = (path: string, body: object) => api("POST", `/api/${path}`, { as: asAdmin, body })

/** A shirt in two sizes; the larger one has a separate picture. */
const aShirt = Effect.fnUntraced(function*(stock = 10) {
  const slug = `shirt-${crypto.randomUUID()}`
  const made = yield* post("catalog/entities", {
    type: "product",
    slug,
    status: "active",
    attributes: { title: "Linen Shirt" }
  })
  const entityId = made.text("data.id")
  const options = `catalog/entities/${entityId}/options`
  yield* post(options, { name: "Size", values: ["S", "M"] })
  yield* post(options, { name: "Colour", values: ["navy"] })
  const warehouseId = yield* aWarehouse()
  const variant = Effect.fnUntraced(function*(size: string) {
    const { text } = yield* post(`catalog/entities/${entityId}/variants`, {
      options: { Size: size, Colour: "navy" },
      sku: `${slug}-${size}`
    })
    const variantId = text("data.id")
    yield* post("inventory/adjust", { entityId, variantId, warehouseId, type: "restock", quantity: stock })
    return variantId
  })
  const [small, medium] = [yield* variant("S"), yield* variant("M")]
  yield* post("pricing/prices", { entityId, currency: "USD", amount: 4_000, compareAtAmount: 5_000 })
  const shared = yield* upload()
  yield* attach(entityId, shared.text("data.id"), { role: "primary" })
  const own = yield* upload()
  yield* attach(entityId, own.text("data.id"), { role: "gallery", variantId: medium })
  return { entityId, slug, small, medium, shared: shared.text("data.url"), own: own.text("data.url") }
})

const putVariant = (cart: GuestCart, entityId: string, variantId: string, quantity = 1) =>
  api("POST", `/api/carts/${cart.id}/items`, { headers: cart.headers, body: { entityId, variantId, quantity } })

const linesOf = (cart: GuestCart) =>
  Effect.map(api("GET", `/api/carts/${cart.id}`, { headers: cart.headers }), (found) => found.list("data.lineItems"))

withShelf()("lines that speak", (it) => {
  it.effect("shows a cart's lines with title, options, picture and list price, and the order keeps them as sold", () =>
    Effect.gen(function*() {
      const { entityId, medium, own, shared, slug, small } = yield* aShirt()
      const cart = yield* aGuestCart()
      yield* putVariant(cart, entityId, small)
      yield* putVariant(cart, entityId, medium)
      const image = { alt: null, width: 40, height: 30 }
      const shown = (size: string, url: string) => ({
        title: "Linen Shirt",
        variantTitle: `${size} / navy`,
        options: [{ name: "Size", value: size }, { name: "Colour", value: "navy" }],
        sku: `${slug}-${size}`,
        slug,
        image: { ...image, url },
        listPrice: 5_000
      })
      const expected = [shown("S", shared), shown("M", own)]
      const lines = yield* linesOf(cart)
      for (const [n, line] of lines.entries()) assert.deepInclude(Object(line), expected[n])
      const order = yield* checkOut(cart)
      assert.strictEqual(order.status, 201, JSON.stringify(order.body))
      yield* api("PATCH", `/api/catalog/entities/${entityId}`, { as: asAdmin, body: { slug: `${slug}-renamed` } })
      yield* api("PUT", `/api/catalog/entities/${entityId}/attributes/en`, {
        as: asAdmin,
        body: { title: "Cotton Shirt" }
      })
      const read = yield* api("GET", `/api/orders/${order.text("data.id")}`, { as: asAdmin })
      for (const answer of [order, read]) {
        for (const [n, line] of answer.list("data.lineItems").entries()) {
          assert.deepInclude(Object(line), expected[n])
        }
      }
    }))

  it.effect("lists the price before modifiers where nothing is compared, and never less than is charged", () =>
    Effect.gen(function*() {
      const rows = [["percentage_discount", 10, 1_000], ["percentage_markup", 30, 1_300]] as const
      for (const [type, value, listPrice] of rows) {
        const entityId = yield* aProduct({ price: 1_000 })
        yield* post("pricing/modifiers", { name: type, type, value, entityId })
        const cart = yield* aGuestCart()
        yield* putInto(cart, entityId)
        const [line] = yield* linesOf(cart)
        assert.strictEqual(at(line, "listPrice"), listPrice)
        const order = yield* checkOut(cart)
        assert.strictEqual(order.at("data.lineItems.0.listPrice"), listPrice)
      }
    }))

  it.effect("names the variant on the invoice, in the shipment, and when an order cannot have more of it", () =>
    Effect.gen(function*() {
      const { entityId, medium } = yield* aShirt(2)
      const cart = yield* aGuestCart()
      yield* putVariant(cart, entityId, medium)
      const order = yield* checkOut(cart)
      const path = `/api/orders/${order.text("data.id")}`
      const invoice = yield* api("GET", `${path}/invoice.html`, { as: asAdmin })
      assert.include(String(invoice.body), "Linen Shirt, M / navy")
      yield* api("PATCH", `${path}/status`, { as: asAdmin, body: { status: "confirmed" } })
      const lineItems = [{ orderLineItemId: order.text("data.lineItems.0.id"), quantity: 1 }]
      const parcel = yield* post(`orders/${order.text("data.id")}/fulfillments`, { lineItems })
      const item = { title: "Linen Shirt", variantTitle: "M / navy" }
      assert.deepInclude(Object(parcel.at("data.lineItems.0")), item)
      const line = { entityId, variantId: medium, quantity: 1 }
      const manual = yield* post("orders", { currency: "USD", lineItems: [line], draft: true })
      assert.deepInclude(Object(manual.at("data.lineItems.0")), item)
      const more = yield* post(`orders/${manual.text("data.id")}/line-items`, line)
      assert.strictEqual(
        more.at("error.details.issues.0.message"),
        "quantity must be at most 0, which is left of Linen Shirt, M / navy, and is 1."
      )
    }))

  it.effect("names the variant when a checkout refuses it", () =>
    Effect.gen(function*() {
      const { entityId, medium } = yield* aShirt(2)
      const cart = yield* aGuestCart()
      yield* putVariant(cart, entityId, medium, 3)
      const short = yield* checkOut(cart)
      assert.include(short.text("error.message"), "Insufficient stock for Linen Shirt, M / navy.")
      yield* api("PATCH", `/api/catalog/entities/${entityId}`, { as: asAdmin, body: { status: "archived" } })
      const gone = yield* checkOut(cart)
      assert.include(gone.text("error.message"), "Linen Shirt, M / navy is no longer available.")
    }))
})

withSharedApp("stock of a cart's lines", (it) => {
  it.effect("shows what is available, and warns of too much over all lines of an item and of the last units", () =>
    Effect.gen(function*() {
      const [plenty, few] = [yield* aProduct({ stock: 100 }), yield* aProduct({ stock: 0 })]
      const service = yield* aProduct({ type: "service" })
      const warehouseId = yield* aWarehouse()
      const restocked = { type: "restock", quantity: 5, reorderThreshold: 5 }
      yield* post("inventory/adjust", { entityId: few, warehouseId, ...restocked })
      const cart = yield* aGuestCart()
      for (const entityId of [plenty, few, service]) yield* putInto(cart, entityId)
      const stockOf = (line: unknown) => [at(line, "available"), at(line, "stockWarning")]
      assert.deepStrictEqual((yield* linesOf(cart)).map(stockOf), [[100, null], [5, "low"], [null, null]])
      const more = yield* addTo(cart, few, 2)
      assert.strictEqual(more.status, 201)
      yield* api("POST", `/api/carts/${cart.id}/items`, {
        headers: cart.headers,
        body: { entityId: few, quantity: 3, metadata: { engraving: "J" } }
      })
      assert.deepStrictEqual((yield* linesOf(cart)).map(stockOf), [
        [100, null],
        [5, "insufficient_stock"],
        [null, null],
        [5, "insufficient_stock"]
      ])
    }))
})
