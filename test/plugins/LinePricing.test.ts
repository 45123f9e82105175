import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { beforeHook, definePlugin, HookRefusal, type LinesToPrice, type PriceStep } from "stoa/plugin"
import { assertNothingLeft, checkoutFailed, refused } from "../checkout/CheckoutFixtures.ts"
import { aGuestCart, aProduct, checkOut, type GuestCart } from "../support/Purchase.ts"
import { api, asAdmin, asStaff, at, live, testAppLayer } from "../support/TestApp.ts"
import { aTaxClass, aTaxRate, to } from "../tax/TaxedShop.ts"

/** What the plugin was asked, newest last. */
const asked: Array<LinesToPrice> = []
/** Steps that a menu of this name has now; a price list can change between cart and checkout. */
const menu = new Map<string, ReadonlyArray<PriceStep>>()

const stepsOf = ({ lines }: LinesToPrice) => lines.map(({ metadata }) => menu.get(String(metadata["menu"])) ?? [])

const kitchen = definePlugin({
  id: "kitchen",
  version: "1.0.0",
  hooks: () => [
    // A plugin may write what it likes into the metadata, and that makes the line.
    beforeHook(
      "cart.beforeAddItem",
      ({ data }) => data.metadata?.["cheat"] === true ? { metadata: { manualDiscount: 500 } } : {}
    )
  ],
  linePricing: () => (request) =>
    Effect.suspend(() => {
      asked.push(request)
      const names = request.lines.map(({ metadata }) => metadata["menu"])
      if (names.includes("closed")) return Effect.fail(new HookRefusal("The kitchen is closed."))
      if (names.includes("burnt")) return Effect.die(new Error("secret of the kitchen"))
      return Effect.succeed(names.includes("short") ? [] : stepsOf(request))
    })
})

const withKitchen = layer(testAppLayer({ plugins: [kitchen] }), live)

const bacon: PriceStep = { code: "bacon", label: "Bacon", amountPerUnit: 150 }
const bottle: PriceStep = { code: "deposit", label: "Deposit", amountPerUnit: 25, taxable: false }
const wrapping: PriceStep = { code: "wrapping", label: "Wrapping", amountPerLine: 99 }

const add = (cart: GuestCart, body: object) =>
  api("POST", `/api/carts/${cart.id}/items`, { headers: cart.headers, body: { quantity: 1, ...body } })

/** A cart with two of a product of 10.00 from each of these menus. */
const aCartOf = Effect.fnUntraced(function*(...menus: ReadonlyArray<string>) {
  const entityId = yield* aProduct({ price: 1_000 })
  const cart = yield* aGuestCart()
  for (const menu of menus) {
    assert.strictEqual((yield* add(cart, { entityId, quantity: 2, metadata: { menu } })).status, 201)
  }
  return { cart, entityId }
})

const moneyOf = (lines: ReadonlyArray<unknown>) =>
  lines.map((line) => ["unitPrice", "totalPrice", "taxAmount"].map((field) => at(line, field)))

withKitchen("price steps of a plugin", (it) => {
  it.effect("are part of the price in the cart, the quote, the checkout, the order, its refunds and its invoice", () =>
    Effect.gen(function*() {
      yield* aTaxRate({ country: "NL", rateBps: 1_000 })
      menu.set("full", [bacon, bottle, wrapping])
      const { cart, entityId } = yield* aCartOf("none", "full")
      const view = yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers })
      assert.deepStrictEqual(view.list("data.lineItems").map((line) => at(line, "unitPriceSnapshot")), [1_000, 1_175])
      asked.length = 0
      const body = { currency: "USD", ...to("NL") }
      const quote = yield* api("POST", "/api/orders/quote", { as: asAdmin, body: { ...body, cartId: cart.id } })
      const order = yield* checkOut(cart, body)
      // The deposit of 0.50 bears no tax.
      const expected = [[1_000, 2_000, 200], [1_175, 2_449, 240]]
      for (const priced of [quote, order]) {
        assert.deepStrictEqual(moneyOf(priced.list("data.lineItems")), expected, JSON.stringify(priced.body))
        assert.deepStrictEqual(priced.at("data.lineItems.1.priceSteps"), [bacon, bottle, wrapping])
        assert.deepStrictEqual(priced.at("data.lineItems.0.priceSteps"), [])
        assert.deepStrictEqual([priced.at("data.subtotal"), priced.at("data.taxTotal")], [4_449, 440])
      }
      assert.deepStrictEqual(asked.map(({ lines }) => lines.map(({ entityId, quantity }) => [entityId, quantity])), [
        [[entityId, 2], [entityId, 2]],
        [[entityId, 2], [entityId, 2]]
      ])
      const path = `/api/orders/${order.text("data.id")}`
      const page = yield* api("GET", `${path}/invoice.html`, { as: asAdmin })
      for (const text of ["Bacon $1.50", "Deposit $0.25", "Wrapping $0.99"]) assert.include(String(page.body), text)
      const lines = [{ lineItemId: order.text("data.lineItems.1.id"), quantity: 2 }]
      const refund = yield* api("POST", `${path}/refunds`, { as: asAdmin, body: { lines } })
      assert.strictEqual(refund.at("data.amount"), 2_449 + 240)
    }))

  it.effect("stay with an edited order: a line keeps its steps, a new quantity gets today's, staff's price none", () =>
    Effect.gen(function*() {
      menu.set("day", [bacon])
      const entityId = yield* aProduct({ price: 1_000 })
      const line = { entityId, quantity: 1, metadata: { menu: "day" } }
      const lineItems = [line, { ...line, isCustomPrice: true, unitPrice: 700 }]
      const order = yield* api("POST", "/api/orders", { as: asAdmin, body: { currency: "USD", lineItems } })
      const shown = (lines: ReadonlyArray<unknown>) =>
        lines.map((one) => [at(one, "unitPrice"), at(one, "totalPrice"), at(one, "priceSteps")])
      assert.deepStrictEqual(shown(order.list("data.lineItems")), [[1_150, 1_150, [bacon]], [700, 700, []]])
      menu.set("day", [wrapping])
      const path = `/api/orders/${order.text("data.id")}/line-items`
      const noted = yield* api("PATCH", `${path}/${order.text("data.lineItems.0.id")}`, {
        as: asStaff,
        body: { notes: "Hot" }
      })
      assert.deepStrictEqual(shown(noted.list("data.lineItems")), [[1_150, 1_150, [bacon]], [700, 700, []]])
      const more = yield* api("POST", path, { as: asStaff, body: line })
      assert.deepStrictEqual(shown(more.list("data.lineItems")), [[1_000, 2_099, [wrapping]], [700, 700, []]])
      assert.strictEqual(more.at("data.grandTotal"), 2_799)
    }))

  it.effect("can tax a line as another class, which stays with an edited order", () =>
    Effect.gen(function*() {
      yield* aTaxRate({ country: "CH", rateBps: 800 })
      const reduced = yield* aTaxClass({ name: "Take away" })
      const rate = { country: "CH", rateBps: 250, taxClassId: reduced.at("data.id") }
      const { at: ofRate } = yield* aTaxRate(rate)
      menu.set("bag", [{ code: "takeaway", label: "Take away", taxClass: reduced.text("data.slug") }, bottle])
      menu.set("plate", [])
      const { cart, entityId } = yield* aCartOf("bag", "plate")
      // Two at 10.00 without the deposit at 2.5 %, two at 10.00 at 8 %.
      const expected = [[1_025, 2_050, 50], [1_000, 2_000, 160]]
      const order = yield* checkOut(cart, { currency: "USD", ...to("CH") })
      assert.deepStrictEqual(moneyOf(order.list("data.lineItems")), expected)
      assert.strictEqual(order.at("data.lineItems.0.taxes.0.rateId"), ofRate("data.id"))
      const lineItems = ["bag", "plate"].map((menu) => ({ entityId, quantity: 2, metadata: { menu } }))
      const body = { currency: "USD", lineItems, ...to("CH") }
      const pending = yield* api("POST", "/api/orders", { as: asAdmin, body })
      menu.set("bag", [])
      const path = `/api/orders/${pending.text("data.id")}/line-items/${pending.text("data.lineItems.0.id")}`
      const edited = yield* api("PATCH", path, { as: asStaff, body: { notes: "Hot" } })
      assert.deepStrictEqual(moneyOf(edited.list("data.lineItems")), expected)
    }))

  it.effect("that take off more than a unit or a line costs, or that no code can use, fail add, quote and checkout", () =>
    Effect.gen(function*() {
      const step = (more: Partial<PriceStep>): ReadonlyArray<PriceStep> => [{ code: "off", label: "Off", ...more }]
      const rows: ReadonlyArray<readonly [steps: ReadonlyArray<PriceStep>, message: RegExp]> = [
        [step({ amountPerUnit: -1_001 }), /below zero/],
        [step({ amountPerLine: -2_001 }), /more than the line comes to/],
        [step({ amountPerUnit: -1, taxable: false }), /could not be priced/],
        [step({ amountPerUnit: 0.5 }), /could not be priced/],
        [step({ amountPerUnit: Number.MAX_SAFE_INTEGER }), /below zero|exact|could not/]
      ]
      for (const [steps, message] of rows) {
        menu.delete("broken")
        const { cart, entityId } = yield* aCartOf("broken")
        menu.set("broken", steps)
        const quote = yield* api("POST", "/api/orders/quote", {
          as: asAdmin,
          body: { cartId: cart.id, currency: "USD" }
        })
        for (const answer of [quote, yield* checkOut(cart)]) checkoutFailed(answer, message)
        yield* assertNothingLeft(cart.id, entityId)
      }
      menu.set("off", step({ amountPerUnit: -1_000, amountPerLine: 5 }))
      const { cart } = yield* aCartOf("off")
      assert.strictEqual((yield* checkOut(cart)).at("data.grandTotal"), 5)
    }))

  it.effect("the text of a refusal reaches the shopper, that of a mistake of its code does not, and no line stays behind", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const rows = [
        ["closed", "The kitchen is closed."],
        ["burnt", "The items could not be priced. Try again later."],
        [
          "short",
          "The items could not be priced. Try again later."
        ]
      ] as const
      const cart = yield* aGuestCart()
      for (const [menu, message] of rows) {
        const added = yield* add(cart, { entityId, metadata: { menu } })
        refused(added, 422, "VALIDATION_FAILED")
        assert.include(added.text("error.message"), message)
        const lineItems = [{ entityId, quantity: 1, metadata: { menu } }]
        const quote = yield* api("POST", "/api/orders/quote", { as: asAdmin, body: { currency: "USD", lineItems } })
        assert.deepStrictEqual([quote.at("error.code"), quote.at("error.message")], ["CHECKOUT_FAILED", message])
      }
      assert.deepStrictEqual(
        (yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers })).at("data.lineItems"),
        []
      )
    }))

  it.effect("a plugin's metadata cannot become a discount by staff", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aGuestCart()
      const line = yield* add(cart, { entityId, metadata: { cheat: true } })
      assert.deepStrictEqual(line.at("data.metadata"), { manualDiscount: 500 })
      const order = yield* checkOut(cart)
      assert.deepStrictEqual([order.at("data.grandTotal"), order.at("data.lineItems.0.metadata")], [1_000, {}])
    }))
})
