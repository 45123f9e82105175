import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import {
  aProductInSizes,
  assertAddsUp,
  elsewhere,
  onDatabase,
  openElsewhere,
  refused
} from "../checkout/CheckoutFixtures.ts"
import { aRate, aZone, noZones } from "../shipping/Zones.ts"
import { aGuestCart, checkOut, putInto } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, withApp } from "../support/TestApp.ts"
import { aTaxClass, aTaxedProduct, aTaxRate, buying, lineTaxesOf, to, totalsOf, withoutRules } from "./TaxedShop.ts"

withApp("a checkout is taxed", (it) => {
  it.effect("taxes nothing where the store has no rules", () =>
    Effect.gen(function*() {
      yield* withoutRules
      const { order } = yield* buying([yield* aTaxedProduct(1000)], to("NL"))
      assert.deepStrictEqual(totalsOf(order), { subtotal: 1000, tax: 0, included: false, total: 1000 })
    }))

  it.effect("taxes each line by the class of its variant, else its entity, else the default", () =>
    Effect.gen(function*() {
      yield* withoutRules
      yield* aTaxClass({ name: "standard", rateBps: 1900, isDefault: true })
      yield* aTaxClass({ name: "reduced", rateBps: 700 })
      yield* aTaxClass({ name: "books", rateBps: 0 })
      yield* aTaxClass({ name: "off", rateBps: 5000, isActive: false })
      const products = [
        yield* aTaxedProduct(1000, "reduced"),
        yield* aTaxedProduct(1000),
        yield* aTaxedProduct(1000, "books"),
        yield* aTaxedProduct(1000, "off")
      ]
      const { order } = yield* buying(products)
      assert.deepStrictEqual(lineTaxesOf(order), [70, 190, 0, 190])
      assert.deepStrictEqual(totalsOf(order), { subtotal: 4000, tax: 450, included: false, total: 4450 })
      assert.strictEqual(order.at("data.amountCaptured"), 4450)
      assertAddsUp(order)
      const sizes = yield* aProductInSizes()
      yield* api("PATCH", `/api/catalog/entities/${sizes.entityId}`, { as: asAdmin, body: { taxClass: "reduced" } })
      yield* onDatabase((sql) => sql`update variants set tax_class = 'books' where id = ${sizes.small}::uuid`)
      const cart = yield* aGuestCart()
      for (const variantId of [sizes.small, sizes.medium]) {
        const body = { entityId: sizes.entityId, variantId, quantity: 1 }
        yield* api("POST", `/api/carts/${cart.id}/items`, { headers: cart.headers, body })
      }
      assert.deepStrictEqual(lineTaxesOf(yield* checkOut(cart)), [0, 70])
    }))

  it.effect("keeps the class of goods when it is renamed, and the class while goods are in it", () =>
    Effect.gen(function*() {
      yield* withoutRules
      const made = yield* aTaxClass({ name: "Reduced Goods", rateBps: 700 })
      const one = `/api/tax/classes/${made.text("data.id")}`
      const product = yield* aTaxedProduct(1000, "REDUCED-goods")
      const entity = `/api/catalog/entities/${product}`
      const shown = yield* api("GET", entity, { as: asAdmin })
      assert.deepStrictEqual([shown.at("data.taxClass"), shown.at("data.taxClassId")], [
        "reduced-goods",
        made.at("data.id")
      ])
      const renamed = yield* api("PATCH", one, { as: asAdmin, body: { name: "Books" } })
      assert.deepStrictEqual([renamed.at("data.name"), renamed.at("data.slug")], ["Books", "reduced-goods"])
      assert.strictEqual((yield* buying([product])).order.at("data.taxTotal"), 70)
      const kept = yield* api("DELETE", one, { as: asAdmin })
      refused(kept, 409, "CONFLICT")
      assert.include(kept.text("error.message"), "in use once")
      const unknown = yield* api("PATCH", entity, { as: asAdmin, body: { taxClass: "nothing" } })
      refused(unknown, 422, "VALIDATION_FAILED")
      assert.strictEqual(unknown.at("error.details.issues.0.path"), "taxClass")
      yield* api("PATCH", entity, { as: asAdmin, body: { taxClass: null } })
      assert.strictEqual((yield* api("DELETE", one, { as: asAdmin })).status, 200)
    }))

  it.effect("takes a class for goods that said its slug before there was one, and the one of two that is new", () =>
    Effect.gen(function*() {
      yield* withoutRules
      const product = yield* aTaxedProduct(1000)
      const entity = `/api/catalog/entities/${product}`
      // As a process of the version before does.
      yield* onDatabase((sql) => sql`update catalog_entities set tax_class = 'reduced' where id = ${product}::uuid`)
      const reduced = yield* aTaxClass({ name: "Reduced", rateBps: 700 })
      const books = yield* aTaxClass({ name: "Books", rateBps: 500 })
      const change = (body: object) => api("PATCH", entity, { as: asAdmin, body })
      const shown = (answer: Answer) => [answer.at("data.taxClass"), answer.at("data.taxClassId")]
      assert.deepStrictEqual(shown(yield* change({ taxClass: "reduced", taxClassId: null })), [
        "reduced",
        reduced.at("data.id")
      ])
      const whole = { taxClass: "books", taxClassId: reduced.at("data.id") }
      assert.deepStrictEqual(shown(yield* change(whole)), ["books", books.at("data.id")])
      assert.deepStrictEqual(shown(yield* change({ taxClass: "books", taxClassId: reduced.at("data.id") })), [
        "reduced",
        reduced.at("data.id")
      ])
      assert.deepStrictEqual(shown(yield* change({ taxClass: null, taxClassId: reduced.at("data.id") })), [null, null])
    }))

  it.effect("names the field whose class is unknown, for entities and variants", () =>
    Effect.gen(function*() {
      yield* withoutRules
      const { entityId } = yield* aProductInSizes()
      const unknown = newId()
      const entity = { type: "product", slug: newId() }
      const calls = [
        ["PATCH", `/api/catalog/entities/${entityId}`, {}],
        ["POST", "/api/catalog/entities", entity],
        ["POST", `/api/catalog/entities/${entityId}/variants`, { options: { Size: "S" } }]
      ] as const
      for (const [method, path, body] of calls) {
        const ask = (named: object) => api(method, path, { as: asAdmin, body: { ...body, ...named } })
        const answer = yield* ask({ taxClassId: unknown })
        refused(answer, 422, "VALIDATION_FAILED")
        assert.deepStrictEqual(
          [answer.at("error.details.issues.0.path"), answer.at("error.details.issues.0.message")],
          ["taxClassId", `'${unknown}' is no tax class of this store. Send the id or the slug of a tax class.`]
        )
        assert.strictEqual((yield* ask({ taxClass: "x y" })).at("error.details.issues.0.path"), "taxClass")
      }
    }))

  it.effect("counts the uses of a class by goods, variants, tax rates and shipping rates", () =>
    Effect.gen(function*() {
      yield* withoutRules
      const made = yield* aTaxClass({ name: "Used", rateBps: 700 })
      const taxClassId = made.text("data.id")
      yield* aTaxedProduct(1000, "used")
      const { entityId } = yield* aProductInSizes()
      yield* onDatabase((sql) =>
        sql`update variants set tax_class_id = ${taxClassId}::uuid where entity_id = ${entityId}::uuid`
      )
      yield* aTaxRate({ taxClassId })
      yield* aRate(yield* aZone(["NL"]), 500, { taxClassId })
      const kept = yield* api("DELETE", `/api/tax/classes/${taxClassId}`, { as: asAdmin })
      refused(kept, 409, "CONFLICT")
      assert.include(kept.text("error.message"), "in use 5 times")
      yield* noZones
    }))

  it.effect("gives a class whose name makes a slug that is taken another one", () =>
    Effect.gen(function*() {
      yield* withoutRules
      yield* aTaxClass({ name: "Food & Drink", rateBps: 700 })
      const other = yield* aTaxClass({ name: "Food, Drink", rateBps: 500 })
      assert.strictEqual(other.at("data.slug"), `food-drink-${other.text("data.id").slice(-12)}`)
    }))

  it.effect("taxes shipping like goods of the class of its rate", () =>
    Effect.gen(function*() {
      yield* withoutRules
      const books = yield* aTaxClass({ name: "Books", rateBps: 700 })
      yield* aTaxClass({ name: "Standard", rateBps: 1_900, isDefault: true })
      yield* aRate(yield* aZone(["NL"]), 1000, { taxClassId: books.at("data.id") })
      const { order } = yield* buying([yield* aTaxedProduct(1000)], to("NL"))
      assert.deepStrictEqual(order.at("data.taxes"), [
        { name: "Standard", rate: "19", base: 1000, amount: 190 },
        { name: "Books", rate: "7", base: 1000, amount: 70 }
      ])
      yield* noZones
    }))

  it.effect("taxes an edited order by the classes of its lines, and answers their taxes", () =>
    Effect.gen(function*() {
      yield* withoutRules
      yield* aTaxClass({ name: "Standard", rateBps: 1_900, isDefault: true })
      yield* aTaxClass({ name: "Books", rateBps: 700 })
      const [book, toy] = [yield* aTaxedProduct(1000, "books"), yield* aTaxedProduct(1000)]
      const written = yield* api("POST", "/api/orders", {
        as: asAdmin,
        body: { currency: "USD", lineItems: [{ entityId: book, quantity: 1 }] }
      })
      const edited = yield* api("POST", `/api/orders/${written.text("data.id")}/line-items`, {
        as: asAdmin,
        body: { entityId: toy, quantity: 2 }
      })
      const taxes = [
        { name: "Books", rate: "7", base: 1000, amount: 70 },
        { name: "Standard", rate: "19", base: 2000, amount: 380 }
      ]
      assert.deepStrictEqual(edited.at("data.taxes"), taxes, JSON.stringify(edited.body))
      const read = yield* api("GET", `/api/orders/${written.text("data.id")}`, { as: asAdmin })
      assert.deepStrictEqual([read.at("data.taxes"), read.at("data.taxTotal")], [taxes, 450])
    }))

  it.effect("takes no class of another store", () =>
    Effect.gen(function*() {
      yield* withoutRules
      yield* openElsewhere
      const theirs = yield* aTaxClass({ name: "Theirs", rateBps: 700 }, elsewhere)
      const id = theirs.text("data.id")
      const product = yield* aTaxedProduct(1000)
      for (const body of [{ taxClassId: id }, { taxClass: "theirs" }, { taxClass: "Theirs" }]) {
        refused(
          yield* api("PATCH", `/api/catalog/entities/${product}`, { as: asAdmin, body }),
          422,
          "VALIDATION_FAILED"
        )
      }
      refused(yield* aTaxRate({ taxClassId: id }), 422, "VALIDATION_FAILED")
      const ours = yield* aTaxClass({ name: "Theirs", rateBps: 500 })
      const named = yield* api("PATCH", `/api/catalog/entities/${product}`, {
        as: asAdmin,
        body: { taxClass: "theirs" }
      })
      assert.strictEqual(named.at("data.taxClassId"), ours.at("data.id"))
      assert.strictEqual((yield* api("DELETE", `/api/tax/classes/${id}`, { as: elsewhere })).status, 200)
    }))

  it.effect("keeps the taxes of an order by line, name and rate when rates change", () =>
    Effect.gen(function*() {
      yield* withoutRules
      const gst = yield* aTaxRate({ name: "GST", country: "CA", state: "QC", rateBps: 500 })
      yield* aTaxRate({ name: "QST", country: "CA", state: "QC", rateBps: 997.5 })
      const products = [yield* aTaxedProduct(10_000), yield* aTaxedProduct(999)]
      const { order } = yield* buying(products, to("CA", "QC"))
      const taxes = [
        { name: "GST", rate: "5", base: 10_999, amount: 550 },
        { name: "QST", rate: "9.975", base: 10_999, amount: 1_097 }
      ]
      assert.deepStrictEqual(order.at("data.taxes"), taxes)
      const cart = yield* aGuestCart()
      for (const entityId of products) yield* putInto(cart, entityId)
      const { headers, id } = cart
      const body = to("CA", "QC")
      const shown = yield* api("PATCH", `/api/carts/${id}`, { headers, body })
      assert.deepStrictEqual(shown.at("data.totals.taxes"), taxes)
      assert.strictEqual(order.at("data.lineItems.0.taxes.0.rateId"), gst.at("data.id"))
      yield* api("PATCH", `/api/tax/rates/${gst.text("data.id")}`, { as: asAdmin, body: { rate: "6" } })
      const read = yield* api("GET", `/api/orders/${order.text("data.id")}`, { as: asAdmin })
      assert.deepStrictEqual(read.at("data.taxes"), taxes)
    }))
})
