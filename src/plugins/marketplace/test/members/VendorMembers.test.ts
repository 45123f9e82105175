import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { type SignedIn, signIn } from "../../../../../test/access/People.ts"
import { onDatabase, openElsewhere } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { eventually } from "../../../../../test/support/Eventually.ts"
import { api, appBeside, asAdmin, TestApp } from "../../../../../test/support/TestApp.ts"
import { marketplace } from "../../index.ts"
import { admin, aVendor, outsider, path, refusal, withMarketplace } from "../VendorShop.ts"

/** Somebody who has signed in and has a profile in the store. */
const aShopper = Effect.fnUntraced(function*() {
  const person = yield* signIn()
  assert.strictEqual((yield* api("GET", "/api/me/profile", { headers: person.bearer })).status, 200)
  return person
})

const entering = ({ bearer }: SignedIn) => api("GET", "/api/marketplace/vendor/me", { headers: bearer })

const add = (vendorId: string, body: object) => admin("POST", `/${vendorId}/members`, body)

const vendorOf = ({ userId }: SignedIn) =>
  Effect.map(
    onDatabase((sql) => sql`select vendor_id as vendor from users where id = ${userId}::uuid`),
    (rows) => rows[0]?.["vendor"]
  )

withMarketplace({})("people of a vendor", (it) => {
  it.effect("members of a vendor enter its portal from the moment they are added until they are removed, with the session they have", () =>
    Effect.gen(function*() {
      const [vendorId, person] = [yield* aVendor(), yield* aShopper()]
      assert.strictEqual((yield* entering(person)).status, 403)
      const added = yield* add(vendorId, { userId: person.userId.toUpperCase(), role: "owner" })
      assert.strictEqual(added.status, 201, JSON.stringify(added.body))
      assert.deepInclude(added.at("data"), { vendorId, userId: person.userId, role: "owner" })
      assert.strictEqual((yield* entering(person)).at("data.id"), vendorId)
      const list = yield* admin("GET", `/${vendorId}/members`)
      assert.deepStrictEqual(list.at("data"), [added.at("data")])
      const removed = yield* admin("DELETE", `/${vendorId}/members/${added.text("data.id")}`)
      assert.strictEqual(removed.status, 200)
      assert.strictEqual((yield* entering(person)).status, 403)
      assert.strictEqual(yield* vendorOf(person), null)
      assert.deepStrictEqual((yield* admin("GET", `/${vendorId}/members`)).at("data"), [])
    }))

  it.effect("changes of members apply at once in other processes, which cache their sessions", () =>
    Effect.gen(function*() {
      const beside = yield* appBeside({ plugins: [marketplace()] })
      const [vendorId, person] = [yield* aVendor(), yield* aShopper()]
      const there = Effect.map(
        Effect.provideService(entering(person), TestApp, beside),
        ({ status }) => status
      )
      assert.strictEqual(yield* there, 403)
      const added = yield* add(vendorId, { userId: person.userId })
      yield* eventually("the other process to admit the member", Effect.map(there, (status) => status === 200), 2000)
      yield* admin("DELETE", `/${vendorId}/members/${added.text("data.id")}`)
      yield* eventually(
        "the other process to refuse the removed member",
        Effect.map(there, (status) => status === 403),
        2000
      )
    }))

  it.effect("changes members at once in the process that responds, even without a notification", () =>
    Effect.gen(function*() {
      const [vendorId, person] = [yield* aVendor(), yield* aShopper()]
      const entered = Effect.map(entering(person), ({ status }) => status)
      assert.strictEqual(yield* entered, 403)
      yield* onDatabase((sql) => sql`alter table users disable trigger users_changed`)
      const added = yield* add(vendorId, { userId: person.userId })
      assert.strictEqual(yield* entered, 200)
      yield* admin("DELETE", `/${vendorId}/members/${added.text("data.id")}`)
      assert.strictEqual(yield* entered, 403)
      yield* onDatabase((sql) => sql`alter table users enable trigger users_changed`)
    }))

  it.effect("members of a vendor are found by the address that they have confirmed, and by no other", () =>
    Effect.gen(function*() {
      const [vendorId, person] = [yield* aVendor(), yield* aShopper()]
      yield* onDatabase((sql) => sql`update users set email_verified = false where id = ${person.userId}::uuid`)
      assert.deepStrictEqual(yield* refusal(add(vendorId, { email: person.email })), [404, "NOT_FOUND"])
      yield* onDatabase((sql) => sql`update users set email_verified = true where id = ${person.userId}::uuid`)
      assert.strictEqual((yield* add(vendorId, { email: person.email.toUpperCase() })).status, 201)
      assert.strictEqual(yield* vendorOf(person), vendorId)
    }))

  it.effect("members of a vendor act for one vendor: a second one is 409, also at the same moment, and of another store", () =>
    Effect.gen(function*() {
      const [one, two, person] = [yield* aVendor(), yield* aVendor(), yield* aShopper()]
      const body = { userId: person.userId }
      const answers = yield* Effect.all([add(one, body), add(two, body), add(one, body), add(two, body)], {
        concurrency: 4
      })
      assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409])
      const acting = yield* vendorOf(person)
      yield* openElsewhere
      yield* onDatabase((sql) =>
        sql`insert into members (organization_id, user_id, role) values ('org_other', ${person.userId}::uuid, 'staff')`
      )
      const made = yield* api("POST", path(), { as: outsider, body: { name: "Elsewhere" } })
      const there = yield* api("POST", path(`/${made.text("data.id")}/members`), { as: outsider, body })
      assert.strictEqual(there.status, 409)
      assert.strictEqual(yield* vendorOf(person), acting)
      const members = yield* onDatabase((sql) =>
        sql`select 1 from marketplace_vendor_members where user_id = ${person.userId}`
      )
      assert.strictEqual(members.length, 1)
    }))

  it.effect("accepts staff and customers of the store as members, and no other user", () =>
    Effect.gen(function*() {
      const vendorId = yield* aVendor()
      const [clerk, unknown] = [yield* signIn({ role: "staff" }), yield* signIn()]
      assert.deepStrictEqual(yield* refusal(add(vendorId, { userId: unknown.userId })), [404, "NOT_FOUND"])
      assert.deepStrictEqual(yield* refusal(add(vendorId, { email: unknown.email })), [404, "NOT_FOUND"])
      assert.deepStrictEqual(yield* refusal(add(vendorId, { userId: randomUUID() })), [404, "NOT_FOUND"])
      assert.deepStrictEqual(yield* refusal(add(randomUUID(), { userId: clerk.userId })), [404, "NOT_FOUND"])
      assert.strictEqual(yield* vendorOf(unknown), null)
      for (const body of [{}, { userId: clerk.userId, email: clerk.email }, { userId: clerk.userId, role: "king" }]) {
        assert.deepStrictEqual(yield* refusal(add(vendorId, body)), [422, "VALIDATION_FAILED"])
      }
      assert.strictEqual((yield* add(vendorId, { userId: clerk.userId })).status, 201)
      yield* openElsewhere
      const spy = yield* signIn({ role: "staff", organization: "org_other" })
      const there = api("POST", path(`/${vendorId}/members`), { as: outsider, body: { userId: spy.userId } })
      assert.deepStrictEqual(yield* refusal(there), [404, "NOT_FOUND"])
      assert.strictEqual(yield* vendorOf(spy), null)
    }))

  it.effect("members of a vendor are removed from their own vendor only", () =>
    Effect.gen(function*() {
      const [one, two, person] = [yield* aVendor(), yield* aVendor(), yield* aShopper()]
      const member = (yield* add(one, { userId: person.userId })).text("data.id")
      assert.deepStrictEqual(yield* refusal(admin("DELETE", `/${two}/members/${member}`)), [404, "NOT_FOUND"])
      assert.strictEqual(yield* vendorOf(person), one)
      yield* admin("DELETE", `/${one}/members/${member}`)
      assert.deepStrictEqual(yield* refusal(admin("DELETE", `/${one}/members/${member}`)), [404, "NOT_FOUND"])
    }))

  it.effect("appear in the audit trail of the actor who added them, without their names", () =>
    Effect.gen(function*() {
      const [vendorId, person] = [yield* aVendor(), yield* aShopper()]
      yield* add(vendorId, { userId: person.userId })
      const trail = yield* eventually(
        "the entry",
        Effect.map(
          api("GET", `/api/audit/user/${person.userId}`, { as: asAdmin }),
          (found) => found.list("data").length > 0 ? found : undefined
        )
      )
      assert.strictEqual(trail.at("data.0.event"), "users.update")
      assert.strictEqual(trail.at("data.0.actorId"), "user-admin")
      assert.include(JSON.stringify(trail.at("data.0")), vendorId)
      assert.notInclude(JSON.stringify(trail.body), person.email)
    }))
})
