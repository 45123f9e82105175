import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { api, asAdmin, asAnonymous, asCustomer, inOrganization, live, testAppLayer } from "../support/TestApp.ts"
import { purchasing } from "./Purchasing.ts"

const [ann, ben] = [asCustomer("ann"), asCustomer("ben")]
const keeper = { ...asAnonymous, userId: "kim", permissions: ["purchasing:all"] }

const order = (as: object, rest: object = {}) =>
  api("POST", "/api/purchasing/orders", { as, body: { supplier: "Acme", ...rest } })
const idsAt = (path: string, as?: object) =>
  Effect.map(api("GET", `/api/purchasing${path}`, as === undefined ? {} : { as }), (answer) => {
    assert.strictEqual(answer.status, 200)
    return answer.list("data").map((row) => Reflect.get(Object(row), "id"))
  })

layer(testAppLayer({ plugins: [purchasing] }), live)(
  "rows that have owners",
  (it) => {
    it.effect("are shown to their user and to staff, and moved by them; to others they are 404", () =>
      Effect.gen(function*() {
        const mine = yield* order(ann)
        const theirs = yield* order(ben)
        const id = mine.text("data.id")
        assert.deepStrictEqual(yield* idsAt("/orders", ann), [id])
        assert.sameMembers(yield* idsAt("/orders", keeper), [id, theirs.text("data.id")])
        assert.deepStrictEqual(yield* idsAt("/orders", asAnonymous), [])
        assert.deepStrictEqual(yield* idsAt("/orders", inOrganization("org_other", keeper)), [])
        const statuses = yield* Effect.forEach(
          [ann, keeper, ben, inOrganization("org_other", ann)],
          (as) => Effect.map(api("GET", `/api/purchasing/orders/${id}`, { as }), ({ status }) => status)
        )
        assert.deepStrictEqual(statuses, [200, 200, 404, 404])
        const approve = (as: object) => api("POST", `/api/purchasing/orders/${id}/approve`, { as })
        assert.strictEqual((yield* approve(ben)).status, 404)
        assert.strictEqual((yield* approve(ann)).status, 201)
        const again = yield* approve(ann)
        assert.deepStrictEqual([again.status, again.at("error.code")], [422, "INVALID_TRANSITION"])
      }))

    it.effect("are shown to the customer whose profile they name, and not to visitors", () =>
      Effect.gen(function*() {
        const [profile, other] = yield* Effect.forEach([ann, ben], (as) => api("GET", "/api/me/profile", { as }))
        const made = yield* order(asAdmin, { customerId: profile?.text("data.id") })
        yield* order(asAdmin, { customerId: other?.text("data.id") })
        yield* order(asAdmin)
        assert.deepStrictEqual(yield* idsAt("/mine", ann), [made.text("data.id")])
        assert.deepStrictEqual(yield* idsAt("/mine", asCustomer("without a profile")), [])
        assert.deepStrictEqual(yield* idsAt("/mine"), [])
        assert.isAbove((yield* idsAt("/mine", keeper)).length, 2)
      }))
  }
)
