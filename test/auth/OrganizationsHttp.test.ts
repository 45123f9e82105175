import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { makeBrowser } from "../support/Browser.ts"
import { live, testAppLayer } from "../support/TestApp.ts"
import { aMember, anOwner, aVisitor, become, invite, refused, type Visitor } from "./Visitors.ts"

const app = testAppLayer({ auth: { requireEmailVerification: false, allowOrganizationCreation: true } })

const organization = "/api/auth/organization"

layer(app, live)("organizations", (it) => {
  it.effect("organizations are created, read, chosen and changed by their owner, and by no other user", () =>
    Effect.gen(function*() {
      const owner = yield* anOwner
      const outsider = yield* aVisitor()
      const full = `${organization}/get-full-organization?organizationId=`
      assert.strictEqual((yield* owner.browser.get(`${organization}/list`)).at("0.id"), owner.id)
      const read = yield* owner.browser.get(`${full}${owner.id}`)
      assert.deepStrictEqual([read.at("members.0.role"), read.at("members.0.userId")], ["owner", owner.userId])
      const session = yield* owner.browser.get("/api/auth/get-session")
      assert.strictEqual(session.at("session.activeOrganizationId"), owner.id)
      assert.strictEqual((yield* owner.browser.get(`${organization}/get-active-member`)).at("role"), "owner")

      assert.strictEqual((yield* outsider.browser.get(`${full}${owner.id}`)).status, 403)
      for (const organizationId of [owner.id, "org_default"]) {
        const answer = yield* outsider.browser.post(`${organization}/set-active`, { organizationId })
        assert.strictEqual(answer.status, 403, organizationId)
      }
      const change = { organizationId: owner.id, data: { name: "Cups" } }
      assert.isAtLeast((yield* outsider.browser.post(`${organization}/update`, change)).status, 400)
      assert.strictEqual((yield* owner.browser.post(`${organization}/update`, change)).at("name"), "Cups")
      assert.strictEqual((yield* owner.browser.get(`${full}abc`)).status, 400)
      assert.strictEqual((yield* makeBrowser().get(`${organization}/list`)).status, 401)
    }))

  it.effect("organizations have their members managed by the staff routes alone", () =>
    Effect.gen(function*() {
      const [owner, member] = [yield* anOwner, yield* aVisitor()]
      const { email, userId } = member
      const body = { email, role: "owner", userId, organizationId: owner.id, memberId: "x" }
      const routes = ["invite-member", "update-member-role", "remove-member", "leave", "create-role", "update-role"]
      for (const name of [...routes, "delete-role"]) {
        refused(yield* owner.browser.post(`${organization}/${name}`, body), 403, "FORBIDDEN")
      }
      const rows = yield* onDatabase((sql) => sql`select 1 from members where organization_id = ${owner.id}`)
      assert.strictEqual(rows.length, 1)
    }))

  it.effect("organizations accept an invited user while the inviter may still give the role", () =>
    Effect.gen(function*() {
      const [owner, guest] = [yield* anOwner, yield* aVisitor()]
      const accept = (visitor: Visitor, invitation: object) =>
        visitor.browser.post(`${organization}/accept-invitation`, invitation)
      const staff = yield* aMember("staff", owner.id)
      refused(yield* accept(guest, yield* invite(owner.id, staff, guest, "admin")), 403, "INVITER_LACKS_AUTHORITY")
      const byOutsider = yield* invite(owner.id, yield* aVisitor(), guest)
      refused(yield* accept(guest, byOutsider), 403, "INVITER_LACKS_AUTHORITY")

      const good = yield* invite(owner.id, owner, guest)
      const invitations = yield* owner.browser.get(`${organization}/list-invitations?organizationId=${owner.id}`)
      assert.include(JSON.stringify(invitations.body), guest.email)
      assert.strictEqual((yield* accept(yield* aVisitor(), good)).status, 403)
      const accepted = yield* accept(guest, good)
      assert.deepStrictEqual([accepted.status, accepted.at("member.role")], [200, "staff"])
      assert.strictEqual((yield* accept(guest, good)).status, 400)
    }))

  it.effect("organizations are deleted while they have no records, and stores are not", () =>
    Effect.gen(function*() {
      const owner = yield* anOwner
      yield* onDatabase((sql) =>
        sql`insert into brands (organization_id, id, slug, display_name)
          values (${owner.id}, gen_random_uuid(), 'b', 'B')`
      )
      const remove = owner.browser.post(`${organization}/delete`, { organizationId: owner.id })
      refused(yield* remove, 409, "ORGANIZATION_IN_USE")
      assert.strictEqual((yield* owner.browser.get(`${organization}/list`)).at("0.id"), owner.id)
      yield* onDatabase((sql) => sql`delete from brands where organization_id = ${owner.id}`)
      assert.strictEqual((yield* remove).status, 200)
      assert.isUndefined((yield* owner.browser.get(`${organization}/list`)).at("0"))
      yield* become(owner, "owner")
      const answer = yield* owner.browser.post(`${organization}/delete`, { organizationId: "org_default" })
      refused(answer, 409, "ORGANIZATION_IN_USE")
    }))
})
