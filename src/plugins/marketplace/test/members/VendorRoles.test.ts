import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type SignedIn, signIn } from "../../../../../test/access/People.ts"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { eventually } from "../../../../../test/support/Eventually.ts"
import { api, asStaff } from "../../../../../test/support/TestApp.ts"
import { vendorRoles } from "../../parties/VendorPortal.ts"
import { asVendor } from "../MarketBuilder.ts"
import { aDispute, aReturn, aSale } from "../SaleBuilder.ts"
import { admin, anApprovedVendor, withMarketplace } from "../VendorShop.ts"

const market = (path: string) => `/api/marketplace${path}`

/** The statuses of one request as the people of a vendor ask it: owner, manager, staff, viewer. */
const byRole = (
  vendorId: string,
  method: string,
  path: string,
  body?: object
) =>
  Effect.forEach(vendorRoles, (role) =>
    Effect.map(
      api(method, market(path), {
        as: asVendor(vendorId, "org_default", role),
        ...(body === undefined ? {} : { body })
      }),
      ({ status }) => status
    ))

const aMember = Effect.fnUntraced(function*(vendorId: string, role?: string) {
  const person = yield* signIn()
  assert.strictEqual((yield* api("GET", "/api/me/profile", { headers: person.bearer })).status, 200)
  const added = yield* admin("POST", `/${vendorId}/members`, { userId: person.userId, role })
  assert.strictEqual(added.status, 201, JSON.stringify(added.body))
  return { ...person, memberId: added.text("data.id") }
})

const statusOf = ({ bearer }: Pick<SignedIn, "bearer">, method: string, path: string, body?: object) =>
  Effect.map(
    api(method, market(path), body === undefined ? { headers: bearer } : { headers: bearer, body }),
    ({ status }) => status
  )

const paper = { type: "identity", fileUrl: "https://a.example/p.pdf" }

withMarketplace()("people of a vendor, by their roles", (it) => {
  it.effect("members of a vendor say who the vendor is as owner and manager, and where its money goes as owner", () =>
    Effect.gen(function*() {
      const vendorId = yield* anApprovedVendor()
      const change = (body: object) => byRole(vendorId, "PATCH", "/vendor/me", body)
      assert.deepStrictEqual(yield* change({ description: "Pots" }), [200, 200, 403, 403])
      assert.deepStrictEqual(yield* change({ bankAccount: { iban: "DE00" } }), [200, 403, 403, 403])
      assert.deepStrictEqual(yield* change({ description: "x", bankAccount: null }), [200, 403, 403, 403])
    }))

  it.effect("members of a vendor sell in every role but that of a viewer, who changes nothing", () =>
    Effect.gen(function*() {
      for (const [n, role] of vendorRoles.entries()) {
        const sale = yield* aSale({ status: "pending" })
        const as = asVendor(sale.vendorId, "org_default", role)
        const dispute = yield* aDispute(sale)
        const [asked, sent] = [yield* aReturn(sale), yield* aReturn(sale, "shipped_back")]
        const own = market(`/vendor/me/orders/${sale.subOrderId}`)
        const requests = [
          [`${own}/confirm`, undefined],
          [market(`/disputes/${dispute}/respond`), { note: "It was sent." }],
          [market(`/vendor/me/returns/${asked}/approve`), {}],
          [market(`/returns/${sent}/receive`), undefined]
        ] as const
        for (const [path, body] of requests) {
          const answer = yield* api("POST", path, body === undefined ? { as } : { as, body })
          assert.strictEqual(answer.status, n < 3 ? 201 : 403, `${role} ${path} ${JSON.stringify(answer.body)}`)
        }
        assert.strictEqual((yield* api("GET", own, { as })).at("data.status"), n < 3 ? "confirmed" : "pending")
        const clerk = { ...asStaff, ...as, permissions: asStaff.permissions ?? [] }
        const made = yield* api("POST", "/api/catalog/entities", {
          as: clerk,
          body: { type: "product", slug: `made-by-${role}` }
        })
        assert.strictEqual(made.status, n < 3 ? 201 : 422, role)
      }
    }))

  it.effect("members of a vendor may do at once what a new role lets them do, in the session that they have, and no more of the old one", () =>
    Effect.gen(function*() {
      const vendorId = yield* anApprovedVendor()
      const person = yield* aMember(vendorId)
      const handIn = statusOf(person, "POST", "/vendor/me/documents", paper)
      assert.deepStrictEqual([yield* handIn, yield* statusOf(person, "GET", "/vendor/me")], [403, 200])
      const become = (role: string, of = vendorId) => admin("PATCH", `/${of}/members/${person.memberId}`, { role })
      const changed = yield* become("owner")
      assert.deepStrictEqual([changed.status, changed.at("data.role")], [200, "owner"])
      assert.strictEqual(yield* handIn, 201)
      const members = yield* api("GET", market("/vendor/me/members"), { headers: person.bearer })
      assert.deepStrictEqual(members.at("data"), [changed.at("data")])
      yield* become("viewer")
      assert.strictEqual(yield* handIn, 403)
      assert.strictEqual((yield* become("king")).status, 422)
      assert.strictEqual((yield* become("owner", yield* anApprovedVendor())).status, 404)
      assert.strictEqual(yield* handIn, 403)
    }))

  it.effect("lets members without a role only read", () =>
    Effect.gen(function*() {
      const vendorId = yield* anApprovedVendor()
      const person = yield* aMember(vendorId, "owner")
      yield* onDatabase((sql) => sql`update users set vendor_role = null where id = ${person.userId}::uuid`)
      const entered = Effect.map(statusOf(person, "POST", "/vendor/me/documents", paper), (status) => status === 403)
      yield* eventually("the session to lose its role", entered, 2_000)
      assert.strictEqual(yield* statusOf(person, "GET", "/vendor/me"), 200)
    }))
})
