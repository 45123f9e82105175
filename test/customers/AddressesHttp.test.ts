import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { maxAddresses } from "../../src/domain/customers/Customer.ts"
import { holding, onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { api, type asAdmin, asCustomer, at, withSharedApp } from "../support/TestApp.ts"
import { anAddress } from "../tenancy/Stores.ts"

const add = (as: typeof asAdmin, body: object = {}, headers = {}) =>
  api("POST", "/api/me/addresses", { as, body: { ...anAddress, isDefault: false, ...body }, headers })

const list = (as: typeof asAdmin) => api("GET", "/api/me/addresses", { as })

/** Cities of the default addresses of a type. */
const defaults = (as: typeof asAdmin, type: string) =>
  Effect.map(
    list(as),
    (answer) =>
      answer.list("data").filter((one) => at(one, "isDefault") === true && at(one, "type") === type).map((one) =>
        at(one, "city")
      )
  )

withSharedApp("addresses", (it) => {
  it.effect("addresses are added and listed, oldest first, with the fields of the contract", () =>
    Effect.gen(function*() {
      const ann = asCustomer("ann")
      const made = yield* add(ann, { line2: "back", state: "ZH", postalCode: "1000 aa", phone: "1", city: "A" })
      assert.strictEqual(made.status, 201)
      const customerId = (yield* api("GET", "/api/me/profile", { as: ann })).at("data.id")
      assert.deepStrictEqual(made.at("data"), {
        ...anAddress,
        id: made.at("data.id"),
        customerId,
        isDefault: false,
        line2: "back",
        state: "ZH",
        postalCode: "1000 AA",
        phone: "1",
        city: "A",
        name: null,
        company: null,
        vatNumber: null,
        unchecked: false
      })
      const bare = yield* add(ann, { type: "billing", city: "B" })
      assert.deepInclude(bare.at("data"), { line2: null, state: null, postalCode: "1000 AA", phone: null })
      assert.deepStrictEqual((yield* list(ann)).at("data"), [made.at("data"), bare.at("data")])
      assert.deepStrictEqual((yield* list(ann)).at("meta.pagination.total"), 2)
    }))

  it.effect("addresses have one default of each type: the latest, also of concurrent ones", () =>
    Effect.gen(function*() {
      const ben = asCustomer("ben")
      yield* add(ben, { isDefault: true, city: "first" })
      yield* add(ben, { isDefault: true, city: "invoice", type: "billing" })
      yield* add(ben, { isDefault: true, city: "second" })
      assert.deepStrictEqual(yield* defaults(ben, "shipping"), ["second"])
      const cities = Array.from({ length: 8 }, (_, n) => `at once ${n}`)
      const added = yield* Effect.all(cities.map((city) => add(ben, { isDefault: true, city })), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(added.map(({ status }) => status), cities.map(() => 201))
      assert.strictEqual((yield* defaults(ben, "shipping")).length, 1)
      assert.deepStrictEqual(yield* defaults(ben, "billing"), ["invoice"])
      const refusal = yield* onDatabase((sql) =>
        sql`update customer_addresses set is_default = true where city = 'second'`.pipe(
          Effect.as("none"),
          Effect.catchTag("SqlError", ({ reason }) => Effect.succeed(reason._tag))
        )
      )
      assert.strictEqual(refusal, "UniqueViolation")
    }))

  it.effect(`addresses are at most ${maxAddresses}, also when many are added at once, and a deleted one can be replaced`, () =>
    Effect.gen(function*() {
      const cleo = asCustomer("cleo")
      yield* list(cleo)
      const tries = yield* Effect.all(Array.from({ length: maxAddresses + 5 }, () => add(cleo)), {
        concurrency: "unbounded"
      })
      const made = tries.filter(({ status }) => status === 201)
      assert.strictEqual(made.length, maxAddresses)
      for (const other of tries) if (other.status !== 201) refused(other, 409, "CONFLICT")
      const gone = yield* api("DELETE", `/api/me/addresses/${made[0]?.text("data.id")}`, { as: cleo })
      assert.deepStrictEqual([gone.status, gone.at("data")], [200, { deleted: true }])
      assert.strictEqual((yield* add(cleo)).status, 201)
    }))

  it.effect("addresses are deleted by their owner alone, once", () =>
    Effect.gen(function*() {
      const dora = asCustomer("dora")
      const path = `/api/me/addresses/${(yield* add(dora)).text("data.id")}`
      refused(yield* api("DELETE", path, { as: asCustomer("emil") }), 404, "NOT_FOUND")
      assert.strictEqual((yield* api("DELETE", path, { as: dora })).status, 200)
      refused(yield* api("DELETE", path, { as: dora }), 404, "NOT_FOUND")
      refused(yield* api("DELETE", "/api/me/addresses/home", { as: dora }), 422, "VALIDATION_FAILED")
    }))

  it.effect("addresses require a name, an address and a type", () =>
    Effect.gen(function*() {
      const gus = asCustomer("gus")
      const wrong = [
        { type: "home" },
        { type: undefined },
        { firstName: "" },
        { lastName: undefined },
        { line1: undefined },
        { city: null },
        { country: undefined },
        { isDefault: "yes" },
        { postalCode: 1000 }
      ]
      for (const body of wrong) refused(yield* add(gus, body), 422, "VALIDATION_FAILED", JSON.stringify(body))
    }))

  it.effect("addresses are shown to staff with the permission to read customers", () =>
    Effect.gen(function*() {
      const made = yield* add(asCustomer("hal"))
      const path = `/api/customers/${made.text("data.customerId")}/addresses`
      const shown = yield* api("GET", path, { as: holding("customers:read") })
      assert.deepStrictEqual(shown.at("data"), [made.at("data")])
    }))
})
