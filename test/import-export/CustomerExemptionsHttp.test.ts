import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { profileIdOf } from "../customers/CustomerFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { api, type asAdmin, withApp } from "../support/TestApp.ts"
import { aStore, expectRoundTrip, jsonl, type Store, withReasons } from "./ImportFixtures.ts"

const query = "kind=customers&format=jsonl"

const school = { reason: "Public school", number: "EX-17", validUntil: "2031-08-01T00:00:00.000Z" }
const embassy = { reason: "Embassy", number: null, validUntil: null }

/** The exemption of the only customer with an e-mail address. */
const exemptionOf = Effect.fnUntraced(function*({ exported }: Store, email: string) {
  const lines = (yield* exported("customers")).trim().split("\n").map((line) => JSON.parse(line))
  return lines.find((line) => line.email === email)?.taxExemption
})

const exemptGroup = Effect.fnUntraced(function*(as: typeof asAdmin, name: string, taxExemption: object = embassy) {
  const made = yield* api("POST", "/api/customers/groups", { as, body: { name } })
  const group = made.text("data.id")
  yield* api("PATCH", `/api/customers/groups/${group}`, { as, body: { taxExemption } })
  return group
})

/** A store whose administrator has a profile, and can be found by its e-mail address. */
const aStaffedStore = Effect.gen(function*() {
  const store = yield* aStore
  const id = yield* profileIdOf(store.as)
  const email = "owner@home.example"
  yield* api("PATCH", `/api/customers/${id}`, { as: store.as, body: { email } })
  return { store, email, id }
})

const refusal = (field: string, line = 1) =>
  `${line}: ${field} You cannot exempt yourself from tax. Ask another member of the staff to do it.`

withApp("imports of tax exemptions", (it) => {
  it.effect("give and take exemptions of customers, and leave those that are absent", () =>
    Effect.gen(function*() {
      const store = yield* aStore
      const email = "school@home.example"
      const sent = (taxExemption?: object | null) => store.send(jsonl({ email, taxExemption }), query)
      assert.deepStrictEqual(yield* sent({ reason: "Public school", number: "EX-17", validUntil: "2031-07-31" }), [
        1,
        0,
        0,
        0
      ])
      assert.deepStrictEqual(yield* exemptionOf(store, email), school)
      assert.deepStrictEqual(yield* sent(school), [0, 0, 1, 0])
      assert.deepStrictEqual(yield* sent(), [0, 0, 1, 0])
      assert.deepStrictEqual(yield* store.send(`email,taxExemption\n${email},\n`, "kind=customers"), [0, 0, 1, 0])
      assert.deepStrictEqual(yield* sent({ reason: "Embassy" }), [0, 1, 0, 0])
      assert.deepStrictEqual(yield* exemptionOf(store, email), embassy)
      assert.deepStrictEqual(yield* store.send(`email,taxExemption\n${email},null\n`, "kind=customers"), [0, 1, 0, 0])
      assert.isNull(yield* exemptionOf(store, email))
      assert.deepStrictEqual((yield* sent({ number: "1" })).slice(0, 4), [0, 0, 0, 1])
      assert.deepStrictEqual((yield* sent({ ...school, until: "2031-01-01" })).slice(0, 4), [0, 0, 0, 1])
    }))

  it.effect("bring customers from one store to another with their exemptions", () =>
    Effect.gen(function*() {
      const store = yield* aStore
      const of = { email: "a@home.example", taxExemption: school }
      yield* store.send(
        jsonl(of, { email: "b@home.example", taxExemption: embassy }, { email: "c@home.example" }),
        query
      )
      yield* expectRoundTrip(store, yield* aStore, "customers")
    }))

  it.effect("change nothing by the store's own export, although its sender is exempt in two ways", () =>
    Effect.gen(function*() {
      const { id, store } = yield* aStaffedStore
      const other = { ...store.as, userId: "another" }
      const group = yield* exemptGroup(store.as, "Embassies")
      yield* api("POST", `/api/customers/groups/${group}/members/${id}`, { as: other })
      yield* api("PATCH", `/api/customers/${id}`, { as: other, body: { taxExemption: school } })
      for (const format of ["csv", "jsonl"]) {
        const whole = yield* store.exported("customers", format)
        assert.include(whole, "EX-17")
        assert.deepStrictEqual(yield* store.send(whole, `kind=customers&format=${format}`), [0, 0, 1, 0])
      }
    }))

  it.effect("free a customer from tax who is made with an exemption", () =>
    Effect.gen(function*() {
      const { as, get, send } = yield* aStore
      yield* api("POST", "/api/tax/classes", { as, body: { name: "standard", rateBps: 1900, isDefault: true } })
      const made = yield* api("POST", "/api/catalog/entities", {
        as,
        body: { type: "product", slug: "mug", status: "active" }
      })
      const entityId = made.text("data.id")
      yield* api("POST", "/api/pricing/prices", { as, body: { entityId, currency: "USD", amount: 1000 } })
      const taxFor = (customerId: string) =>
        Effect.map(
          api("POST", "/api/orders/quote", {
            as,
            body: { customerId, currency: "USD", lineItems: [{ entityId, quantity: 1 }] }
          }),
          (quoted) => quoted.at("data.taxTotal")
        )
      const newest = Effect.map(get("customers"), (all) => all.text("data.0.id"))
      yield* send(jsonl({ email: "other@home.example" }), query)
      // From here on the process remembers that no customer is exempt.
      assert.strictEqual(yield* taxFor(yield* newest), 190)
      yield* send(jsonl({ email: "school@home.example", taxExemption: school }), query)
      const customer = yield* newest
      yield* eventually("no tax", Effect.map(taxFor(customer), (tax) => tax === 0))
    }))

  it.effect("refuse to exempt the customer who sends the file, and take the rest of it", () =>
    Effect.gen(function*() {
      const { email, store } = yield* aStaffedStore
      yield* exemptGroup(store.as, "Embassies")
      const file = jsonl({ email: "b@home.example", taxExemption: school }, { email, phone: "1", taxExemption: school })
      assert.deepStrictEqual(
        yield* store.send(file, query),
        withReasons([1, 0, 0, 1], refusal("taxExemption", 2))
      )
      const joining = jsonl({ email: email.toUpperCase(), groups: ["New", "Embassies"] })
      assert.deepStrictEqual(yield* store.send(joining, query), withReasons([0, 0, 0, 1], refusal("groups")))
      const all = yield* store.get("customers/groups")
      assert.deepStrictEqual(all.list("data").length, 1)
      assert.deepStrictEqual(yield* store.send(jsonl({ email, groups: ["New"], taxExemption: null }), query), [
        0,
        1,
        0,
        0
      ])
      assert.isNull(yield* exemptionOf(store, email))
    }))

  it.effect("refuse another exemption for the sender who has one, and take it away", () =>
    Effect.gen(function*() {
      const { email, id, store } = yield* aStaffedStore
      const body = { taxExemption: school }
      yield* api("PATCH", `/api/customers/${id}`, { as: { ...store.as, userId: "another" }, body })
      const sent = (taxExemption: object | null) => store.send(jsonl({ email, taxExemption }), query)
      assert.deepStrictEqual(
        yield* sent({ ...school, validUntil: null }),
        withReasons([0, 0, 0, 1], refusal("taxExemption"))
      )
      assert.deepStrictEqual(yield* sent(school), [0, 0, 1, 0])
      assert.deepStrictEqual(yield* sent(null), [0, 1, 0, 0])
    }))
})
