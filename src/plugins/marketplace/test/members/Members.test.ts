import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { type SignedIn, signIn } from "../../../../../test/access/People.ts"
import { onDatabase, openElsewhere } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { eventually } from "../../../../../test/support/Eventually.ts"
import { api, appBeside, asAdmin, asStaff, inOrganization, TestApp } from "../../../../../test/support/TestApp.ts"
import { marketplace } from "../../index.ts"
import { vendorRoles } from "../../parties/VendorPortal.ts"
import { asVendor, done, refused, refusedBodies, send, statusOf } from "../Calls.ts"
import { aVendor } from "../Goods.ts"
import { market } from "../Market.ts"
import { aDispute, aReturn, aSale } from "../Sales.ts"

const missing = "404 NOT_FOUND"

/** Somebody who has signed in and has a profile in the store. */
const aShopper = Effect.fnUntraced(function*() {
  const person = yield* signIn()
  assert.strictEqual((yield* api("GET", "/api/me/profile", { headers: person.bearer })).status, 200)
  return person
})

const asks = ({ bearer }: SignedIn, route = "GET /vendor/me", body?: object) =>
  statusOf(send(undefined, route, body, bearer))

/** The route of a vendor's members, and adding a person to them. */
const members = (vendorId: string, memberId = "") => `/vendors/${vendorId}/members${memberId && `/${memberId}`}`
const added = (vendorId: string, body: object) => done(asAdmin, `POST ${members(vendorId)}`, body)

const vendorOf = ({ userId }: SignedIn) =>
  Effect.map(
    onDatabase((sql) => sql`select vendor_id as vendor from users where id = ${userId}::uuid`),
    (rows) => rows[0]?.["vendor"]
  )

market({})("people of a vendor", (test) => {
  test("enter its portal from the moment they are added until they are removed, with the session they have", function*() {
    const [vendorId, person] = [yield* aVendor(), yield* aShopper()]
    assert.strictEqual(yield* asks(person), 403)
    const member = yield* added(vendorId, { userId: person.userId.toUpperCase(), role: "owner" })
    assert.deepInclude(member.at("data"), { vendorId, userId: person.userId, role: "owner" })
    assert.strictEqual(yield* asks(person), 200)
    const listed = [
      yield* done(asAdmin, `GET ${members(vendorId)}`),
      yield* done(undefined, "GET /vendor/me/members", undefined, person.bearer)
    ]
    for (const list of listed) assert.deepStrictEqual(list.at("data"), [member.at("data")])
    const one = `DELETE ${members(vendorId, member.text("data.id"))}`
    yield* refused(missing, asAdmin, `DELETE ${members(yield* aVendor(), member.text("data.id"))}`)
    yield* done(asAdmin, one)
    assert.deepStrictEqual([yield* asks(person), yield* vendorOf(person)], [403, null])
    yield* refused(missing, asAdmin, one)
  })

  test("enter and leave other processes, which cache their sessions", function*() {
    const beside = yield* appBeside({ plugins: [marketplace()] })
    const [vendorId, person] = [yield* aVendor(), yield* aShopper()]
    const there = Effect.provideService(asks(person), TestApp, beside)
    assert.strictEqual(yield* there, 403)
    const { id } = Object((yield* added(vendorId, { userId: person.userId })).at("data"))
    yield* eventually("the other process to admit", Effect.map(there, (status) => status === 200))
    yield* done(asAdmin, `DELETE ${members(vendorId, id)}`)
    yield* eventually("the other process to refuse", Effect.map(there, (status) => status === 403))
  })

  test("enter and leave at once the process that responds, even without a notification", function*() {
    const [vendorId, person] = [yield* aVendor(), yield* aShopper()]
    assert.strictEqual(yield* asks(person), 403)
    yield* onDatabase((sql) => sql`alter table users disable trigger users_changed`)
    const { id } = Object((yield* added(vendorId, { userId: person.userId })).at("data"))
    assert.strictEqual(yield* asks(person), 200)
    yield* done(asAdmin, `DELETE ${members(vendorId, id)}`)
    assert.strictEqual(yield* asks(person), 403)
    yield* onDatabase((sql) => sql`alter table users enable trigger users_changed`)
  })

  test("are found by the address that they have confirmed, and by no other", function*() {
    const [vendorId, person] = [yield* aVendor(), yield* aShopper()]
    const confirmed = (isConfirmed: boolean) =>
      onDatabase((sql) => sql`update users set email_verified = ${isConfirmed} where id = ${person.userId}::uuid`)
    yield* confirmed(false)
    yield* refused(missing, asAdmin, `POST ${members(vendorId)}`, { email: person.email })
    yield* confirmed(true)
    yield* added(vendorId, { email: person.email.toUpperCase() })
    assert.strictEqual(yield* vendorOf(person), vendorId)
  })

  test("act for one vendor: of several at the same moment, and of two stores, one takes them", function*() {
    const [ids, person] = [yield* Effect.replicateEffect(aVendor(), 4), yield* aShopper()]
    yield* openElsewhere
    const far = yield* aVendor({ within: "org_other" })
    const answers = yield* Effect.forEach(
      ids,
      (id) => send(asAdmin, `POST ${members(id)}`, { userId: person.userId }),
      { concurrency: 4 }
    )
    assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409])
    const acting = yield* vendorOf(person)
    const there = inOrganization("org_other", asAdmin)
    yield* onDatabase((sql) =>
      sql`insert into members (organization_id, user_id, role) values ('org_other', ${person.userId}::uuid, 'staff')`
    )
    yield* refused("409 CONFLICT", there, `POST ${members(far)}`, { userId: person.userId })
    const rows = yield* onDatabase((sql) =>
      sql`select vendor_id::text as vendor from marketplace_vendor_members where user_id = ${person.userId}`
    )
    assert.deepStrictEqual([rows, yield* vendorOf(person)], [[{ vendor: acting }], acting])
  })

  test("are staff and customers of the store, and no other user", function*() {
    const vendorId = yield* aVendor()
    const [clerk, unknown] = [yield* signIn({ role: "staff" }), yield* signIn()]
    yield* openElsewhere
    const spy = yield* signIn({ role: "staff", organization: "org_other" })
    const others = [unknown, spy].map(({ userId }) => ({ userId }))
    const named = [...others, { email: unknown.email }, { userId: randomUUID() }]
    yield* refusedBodies(missing, asAdmin, `POST ${members(vendorId)}`, named)
    yield* refused(missing, asAdmin, `POST ${members(randomUUID())}`, { userId: clerk.userId })
    const { email, userId } = clerk
    const wrong = [{}, { userId, email }, { userId, role: "king" }]
    yield* refusedBodies("422 VALIDATION_FAILED", asAdmin, `POST ${members(vendorId)}`, wrong)
    yield* added(vendorId, { userId })
    assert.deepStrictEqual([yield* vendorOf(clerk), yield* vendorOf(spy)], [vendorId, null])
  })
})

market()("people of a vendor, by their roles", (test) => {
  test("say who the vendor is as owner and manager, and where its money goes as owner", function*() {
    const vendorId = yield* aVendor()
    const byRole = (body: object) =>
      Effect.forEach(vendorRoles, (role) => statusOf(send(asVendor(vendorId, role), "PATCH /vendor/me", body)))
    assert.deepStrictEqual(yield* byRole({ description: "Pots" }), [200, 200, 403, 403])
    assert.deepStrictEqual(yield* byRole({ description: "x", bankAccount: { iban: "DE00" } }), [200, 403, 403, 403])
  })

  test("sell in every role but that of a viewer, who changes nothing", function*() {
    for (const role of vendorRoles) {
      const sale = yield* aSale({ status: "pending" })
      const [as, status] = [asVendor(sale.vendorId, role), role === "viewer" ? 403 : 201]
      const own = `/vendor/me/orders/${sale.subOrderId}`
      const requests = [
        [`POST ${own}/confirm`, {}],
        [`POST /disputes/${yield* aDispute(sale)}/respond`, { note: "It was sent." }],
        [`POST /vendor/me/returns/${yield* aReturn(sale)}/approve`, {}],
        [`POST /returns/${yield* aReturn(sale, "shipped_back")}/receive`, {}]
      ] as const
      for (const [route, body] of requests) {
        assert.strictEqual(yield* statusOf(send(as, route, body)), status, `${role} ${route}`)
      }
      assert.strictEqual((yield* done(as, `GET ${own}`)).at("data.status"), role === "viewer" ? "pending" : "confirmed")
      const clerk = { ...asStaff, ...as, permissions: asStaff.permissions ?? [] }
      const made = send(clerk, "POST /api/catalog/entities", { type: "product", slug: `made-by-${role}` })
      assert.strictEqual(yield* statusOf(made), role === "viewer" ? 422 : 201, role)
    }
  })

  test("may do at once what a new role lets them do, and no more of the old one", function*() {
    const [vendorId, person] = [yield* aVendor(), yield* aShopper()]
    const memberId = (yield* added(vendorId, { userId: person.userId })).text("data.id")
    const handIn = asks(person, "POST /vendor/me/documents", { type: "identity", fileUrl: "https://a.example/p.pdf" })
    const become = (role: string) => done(asAdmin, `PATCH ${members(vendorId, memberId)}`, { role })
    assert.deepStrictEqual([yield* handIn, yield* asks(person)], [403, 200])
    assert.strictEqual((yield* become("owner")).at("data.role"), "owner")
    assert.strictEqual(yield* handIn, 201)
    yield* become("viewer")
    assert.strictEqual(yield* handIn, 403)
    yield* refused("422 VALIDATION_FAILED", asAdmin, `PATCH ${members(vendorId, memberId)}`, { role: "king" })
    yield* refused(missing, asAdmin, `PATCH ${members(yield* aVendor(), memberId)}`, { role: "owner" })
    assert.strictEqual(yield* handIn, 403)
    yield* become("owner")
    yield* onDatabase((sql) => sql`update users set vendor_role = null where id = ${person.userId}::uuid`)
    yield* eventually("the session to lose its role", Effect.map(handIn, (status) => status === 403))
    assert.strictEqual(yield* asks(person), 200)
  })
})
