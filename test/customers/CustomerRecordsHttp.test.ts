import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { aCustomerCart, buyAs, elsewhere, openElsewhere, refused } from "../checkout/CheckoutFixtures.ts"
import { aProduct } from "../support/Purchase.ts"
import { api, asAdmin, asCustomer, at, withSharedApp } from "../support/TestApp.ts"
import { entriesOf, ids, profileIdOf as profileOf } from "./CustomerFixtures.ts"

const groups = "/api/customers/groups"

const as = (method: string, path: string, body?: object) => api(method, path, { as: asAdmin, ...(body && { body }) })

const made = Effect.fnUntraced(function*(path: string, body: object) {
  const answer = yield* as("POST", path, body)
  assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
  return answer.text("data.id")
})

const lastEntryOf = (customerId: string) => Effect.map(entriesOf(customerId), (entries) => entries.at(-1))

withSharedApp("records for staff", (it) => {
  describe("groups", () => {
    it.effect("groups are created, read, listed by name, changed and deleted, with unique names", () =>
      Effect.gen(function*() {
        const sent = { name: "Wholesale", description: "Resellers", metadata: { tier: 1 } }
        const first = yield* as("POST", groups, sent)
        assert.strictEqual(first.status, 201)
        assert.deepInclude(first.at("data"), sent)
        const path = `${groups}/${first.text("data.id")}`
        assert.deepStrictEqual((yield* as("GET", path)).at("data"), first.at("data"))
        const second = yield* made(groups, { name: "Friends" })
        const listed = yield* as("GET", groups)
        assert.deepStrictEqual(ids(listed), [second, first.at("data.id")])
        assert.strictEqual(listed.at("meta.pagination.total"), 2)
        const changed = yield* as("PATCH", path, { description: null, metadata: {} })
        assert.deepInclude(changed.at("data"), { name: "Wholesale", description: null, metadata: {} })
        refused(yield* as("PATCH", path, { name: "Friends" }), 409, "CONFLICT")
        refused(yield* as("POST", groups, { name: "Friends" }), 409, "CONFLICT")
        refused(yield* as("POST", groups, {}), 422, "VALIDATION_FAILED")
        assert.deepStrictEqual((yield* as("DELETE", path)).at("data"), { deleted: true })
        for (const method of ["GET", "DELETE"]) refused(yield* as(method, path), 404, "NOT_FOUND")
        refused(yield* as("PATCH", path, {}), 404, "NOT_FOUND")
        refused(yield* as("GET", `${path}/members`), 404, "NOT_FOUND")
        yield* openElsewhere
        assert.strictEqual((yield* api("POST", groups, { as: elsewhere, body: { name: "Friends" } })).status, 201)
      }))

    it.effect("groups have members, who get the prices of the group; joining is idempotent", () =>
      Effect.gen(function*() {
        const ann = asCustomer("ann")
        const [group, other, customer] = [
          yield* made(groups, { name: "Vip" }),
          yield* made(groups, { name: "Press" }),
          yield* profileOf(ann)
        ]
        const entityId = yield* aProduct({ price: 1000 })
        yield* as("POST", "/api/pricing/prices", { entityId, currency: "USD", amount: 1, customerGroupId: group })
        const paid = Effect.map(buyAs(ann, entityId), (order) => order.at("data.subtotal"))
        assert.strictEqual(yield* paid, 1000)

        const joined = yield* as("POST", `${groups}/${group}/members/${customer}`)
        assert.deepStrictEqual([joined.status, joined.at("data")], [200, { member: true }])
        assert.strictEqual((yield* lastEntryOf(customer))?.type, "customers.update")
        const entry = yield* lastEntryOf(customer)
        assert.deepStrictEqual([at(entry?.before, "groupIds"), at(entry?.payload, "groupIds")], [[], [group]])
        yield* as("POST", `${groups}/${group}/members/${customer}`)
        assert.strictEqual((yield* lastEntryOf(customer))?.id, entry?.id)
        assert.strictEqual(yield* paid, 1)

        yield* as("POST", `${groups}/${other}/members/${customer}`)
        assert.deepStrictEqual((yield* as("GET", `/api/customers/${customer}`)).at("data.groupIds"), [group, other])
        assert.deepStrictEqual(ids(yield* as("GET", `${groups}/${group}/members`)), [customer])
        refused(yield* as("DELETE", `${groups}/${group}`), 409, "CONFLICT")
        const left = yield* as("DELETE", `${groups}/${group}/members/${customer}`)
        assert.deepStrictEqual([left.status, left.at("data")], [200, { member: false }])
        assert.strictEqual((yield* as("DELETE", `${groups}/${group}/members/${customer}`)).status, 200)
        assert.deepStrictEqual((yield* as("GET", `/api/customers/${customer}`)).at("data.groupIds"), [other])
        assert.strictEqual(yield* paid, 1000)
        assert.strictEqual((yield* as("DELETE", `${groups}/${group}`)).status, 200)
      }))

    it.effect("groups lose none of many concurrent memberships, and accept no customer of another tenant", () =>
      Effect.gen(function*() {
        const customer = yield* profileOf(asCustomer("ben"))
        const all = yield* Effect.forEach(
          Array.from({ length: 6 }, (_, n) => n),
          (n) => made(groups, { name: `G${n}` })
        )
        yield* Effect.forEach(all, (group) => as("POST", `${groups}/${group}/members/${customer}`), {
          concurrency: "unbounded"
        })
        const { list } = yield* as("GET", `/api/customers/${customer}`)
        assert.sameMembers([...list("data.groupIds")], all)
        yield* openElsewhere
        const [group = ""] = all
        const foreign = yield* api("POST", "/api/customers", { as: elsewhere, body: {} })
        const join = (id: string) => as("POST", `${groups}/${group}/members/${id}`)
        refused(yield* join(foreign.text("data.id")), 404, "NOT_FOUND")
        refused(yield* join(crypto.randomUUID()), 404, "NOT_FOUND")
      }))
  })

  describe("interactions", () => {
    it.effect("interactions are created, listed newest first, changed and deleted", () =>
      Effect.gen(function*() {
        const customer = yield* profileOf(asCustomer("cleo"))
        const path = `/api/customers/${customer}/interactions`
        const entity = yield* aProduct()
        const first = yield* as("POST", path, {
          kind: "fitting",
          notes: "A",
          relatedEntityId: entity,
          metadata: { a: 1 }
        })
        assert.strictEqual(first.status, 201)
        assert.deepInclude(first.at("data"), {
          customerId: customer,
          kind: "fitting",
          notes: "A",
          relatedEntityId: entity,
          metadata: { a: 1 },
          createdBy: "user-admin"
        })
        const second = yield* made(path, { kind: "follow_up", notes: "B" })
        assert.deepStrictEqual(ids(yield* as("GET", path)), [second, first.at("data.id")])
        const one = `${path}/${first.text("data.id")}`
        const changed = yield* as("PATCH", one, { notes: "C", relatedEntityId: null })
        assert.deepInclude(changed.at("data"), {
          kind: "fitting",
          notes: "C",
          relatedEntityId: null,
          metadata: { a: 1 }
        })
        assert.strictEqual((yield* lastEntryOf(customer))?.type, "customers.changeInteraction")
        assert.deepStrictEqual((yield* as("DELETE", one)).at("data"), { deleted: true })
        refused(yield* as("DELETE", one), 404, "NOT_FOUND")
        refused(yield* as("PATCH", one, {}), 404, "NOT_FOUND")
        const another = yield* profileOf(asCustomer("dora"))
        const misplaced = `/api/customers/${another}/interactions/${second}`
        refused(yield* as("PATCH", misplaced, { notes: "D" }), 404, "NOT_FOUND")
        refused(yield* as("DELETE", misplaced), 404, "NOT_FOUND")
      }))

    it.effect("interactions require a kind, a text and a customer", () =>
      Effect.gen(function*() {
        const customer = yield* profileOf(asCustomer("emil"))
        const path = `/api/customers/${customer}/interactions`
        for (const body of [{ kind: "party", notes: "A" }, { kind: "call" }, { kind: "call", notes: "" }]) {
          refused(yield* as("POST", path, body), 422, "VALIDATION_FAILED", JSON.stringify(body))
        }
        const unknown = `/api/customers/${crypto.randomUUID()}/interactions`
        refused(yield* as("POST", unknown, { kind: "call", notes: "A" }), 404, "NOT_FOUND")
        refused(yield* as("GET", unknown), 404, "NOT_FOUND")
      }))
  })

  it.effect("records of a customer include orders with totals by currency", () =>
    Effect.gen(function*() {
      const fay = asCustomer("fay")
      const customer = yield* profileOf(fay)
      const path = `/api/customers/${customer}/orders`
      const nothing = { count: 0, lifetimeSpend: 0, averageBasket: 0, currency: null, byCurrency: [] }
      assert.deepStrictEqual((yield* as("GET", `${path}?include=totals`)).at("data"), { items: [], totals: nothing })
      const bought = [
        yield* buyAs(fay, yield* aProduct({ price: 1000 })),
        yield* buyAs(fay, yield* aProduct({ price: 501 })),
        yield* buyAs(fay, yield* aProduct({ price: 9999 }))
      ].map((order) => order.text("data.id"))
      yield* as("PATCH", `/api/orders/${bought[2]}/status`, { status: "cancelled" })
      const cart = yield* aCustomerCart(fay, "EUR")
      const entityId = yield* aProduct({ price: 300, currency: "EUR" })
      yield* api("POST", `/api/carts/${cart.id}/items`, { as: fay, body: { entityId, quantity: 1 } })
      const inEuro = yield* api("POST", "/api/checkout", {
        as: fay,
        body: { cartId: cart.id, paymentMethodId: "test", currency: "EUR" }
      })
      const all = yield* as("GET", `${path}?include=totals&limit=2`)
      assert.deepStrictEqual(all.list("data.items").map((one) => at(one, "id")), [inEuro.at("data.id"), bought[2]])
      assert.strictEqual(all.at("data.items.0.lineItems.0.entityId"), entityId)
      assert.strictEqual(all.at("meta.pagination.total"), 4)
      const dollars = { count: 2, lifetimeSpend: 1501, averageBasket: 751 }
      const euros = { currency: "EUR", count: 1, lifetimeSpend: 300, averageBasket: 300 }
      assert.deepStrictEqual(all.at("data.totals"), {
        ...dollars,
        count: 3,
        currency: "USD",
        byCurrency: [{ currency: "USD", ...dollars }, euros]
      })
      assert.deepStrictEqual(ids(yield* as("GET", `${path}?status=cancelled`)), [bought[2]])
      refused(yield* as("GET", `/api/customers/${crypto.randomUUID()}/orders`), 404, "NOT_FOUND")
    }))
})
