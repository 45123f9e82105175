import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createHash, randomUUID } from "node:crypto"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { makeBrowser } from "../support/Browser.ts"
import { testAppLayer } from "../support/TestApp.ts"
import { aVisitor, refused, type Visitor } from "./Visitors.ts"

const app = testAppLayer({ auth: { requireEmailVerification: false, allowOrganizationCreation: true } })

const organization = "/api/auth/organization"

/** Somebody with an organization of his own, which his session acts in. */
const anOwner = Effect.gen(function*() {
  const owner = yield* aVisitor()
  const made = yield* owner.browser.post(`${organization}/create`, { name: "Mugs", slug: randomUUID() })
  assert.strictEqual(made.status, 200)
  const found: Visitor & { readonly id: string } = { ...owner, id: made.text("id") }
  return found
})

/** A member of an organization in a role, as staff would make him. */
const aMember = Effect.fnUntraced(function*(id: string, role: string) {
  const member = yield* aVisitor()
  yield* onDatabase((sql) =>
    sql`insert into members (organization_id, user_id, role) values (${id}, ${member.userId}::uuid, ${role})`
  )
  yield* member.browser.post(`${organization}/set-active`, { organizationId: id })
  return member
})

const invitationFrom = (inviter: Visitor, id: string, email: string, role: string) =>
  Effect.map(
    onDatabase((sql) =>
      sql<{ readonly id: string }>`insert into invitations (organization_id, email, role, inviter_id, expires_at)
        values (${id}, ${email}, ${role}, ${inviter.userId}::uuid, now() + interval '1 day') returning id`
    ),
    (rows) => rows[0]?.id ?? ""
  )

layer(app, { excludeTestServices: true, timeout: "60 seconds" })("organizations", (it) => {
  it.effect("are made, read, chosen and changed by their owner, and by nobody else", () =>
    Effect.gen(function*() {
      const owner = yield* anOwner
      const outsider = yield* aVisitor()
      assert.strictEqual((yield* owner.browser.get(`${organization}/list`)).at("0.id"), owner.id)
      const full = yield* owner.browser.get(`${organization}/get-full-organization?organizationId=${owner.id}`)
      assert.deepStrictEqual([full.at("members.0.role"), full.at("members.0.userId")], ["owner", owner.userId])
      assert.strictEqual(
        (yield* owner.browser.get("/api/auth/get-session")).at("session.activeOrganizationId"),
        owner.id
      )
      assert.strictEqual((yield* owner.browser.get(`${organization}/get-active-member`)).at("role"), "owner")

      const foreign = yield* outsider.browser.get(`${organization}/get-full-organization?organizationId=${owner.id}`)
      assert.strictEqual(foreign.status, 403)
      for (const organizationId of [owner.id, "org_default"]) {
        const answer = yield* outsider.browser.post(`${organization}/set-active`, { organizationId })
        assert.strictEqual(answer.status, 403, organizationId)
      }
      const change = { organizationId: owner.id, data: { name: "Cups" } }
      assert.isAtLeast((yield* outsider.browser.post(`${organization}/update`, change)).status, 400)
      assert.strictEqual((yield* owner.browser.post(`${organization}/update`, change)).at("name"), "Cups")
      const unknown = yield* owner.browser.get(`${organization}/get-full-organization?organizationId=abc`)
      assert.strictEqual(unknown.status, 400)
      assert.strictEqual((yield* makeBrowser().get(`${organization}/list`)).status, 401)
    }))

  it.effect("have their members managed elsewhere", () =>
    Effect.gen(function*() {
      const owner = yield* anOwner
      const member = yield* aVisitor()
      const body = {
        email: member.email,
        role: "owner",
        userId: member.userId,
        organizationId: owner.id,
        memberId: "x"
      }
      const routes = ["invite-member", "update-member-role", "remove-member", "leave", "create-role", "update-role"]
      for (const name of [...routes, "delete-role"]) {
        refused(yield* owner.browser.post(`${organization}/${name}`, body), 403, "FORBIDDEN")
      }
      const rows = yield* onDatabase((sql) => sql`select 1 from members where organization_id = ${owner.id}`)
      assert.strictEqual(rows.length, 1)
    }))

  it.effect("take in whom they invited, while whoever invited him may still give the role", () =>
    Effect.gen(function*() {
      const owner = yield* anOwner
      const guest = yield* aVisitor()
      const accept = (visitor: Visitor, invitationId: string) =>
        visitor.browser.post(`${organization}/accept-invitation`, { invitationId })
      yield* onDatabase((sql) => sql`update users set email_verified = true where id = ${guest.userId}::uuid`)

      const staff = yield* aMember(owner.id, "staff")
      const tooMuch = yield* invitationFrom(staff, owner.id, guest.email, "admin")
      refused(yield* accept(guest, tooMuch), 403, "INVITER_LACKS_AUTHORITY")
      const outsider = yield* invitationFrom(yield* aVisitor(), owner.id, guest.email, "staff")
      refused(yield* accept(guest, outsider), 403, "INVITER_LACKS_AUTHORITY")

      const good = yield* invitationFrom(owner, owner.id, guest.email, "staff")
      const wrong = yield* accept(yield* aVisitor(), good)
      assert.strictEqual(wrong.status, 403)
      const accepted = yield* accept(guest, good)
      assert.deepStrictEqual([accepted.status, accepted.at("member.role")], [200, "staff"])
      assert.strictEqual((yield* accept(guest, good)).status, 400)
    }))

  it.effect("are deleted while they hold nothing, and stores are not", () =>
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
      const first = yield* aMember("org_default", "owner")
      const answer = yield* first.browser.post(`${organization}/delete`, { organizationId: "org_default" })
      refused(answer, 409, "ORGANIZATION_IN_USE")
    }))
})

layer(testAppLayer({ auth: { requireEmailVerification: false } }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})(
  "API keys of a user",
  (it) => {
    const make = (visitor: Visitor, body: object = { name: "till" }) =>
      visitor.browser.post("/api/auth/api-key/create", body)

    it.effect("are made by whoever may manage keys", () =>
      Effect.gen(function*() {
        refused(yield* make(yield* aVisitor()), 403, "FORBIDDEN")
        refused(yield* make(yield* aMember("org_default", "staff")), 403, "FORBIDDEN")
        refused(yield* makeBrowser().post("/api/auth/api-key/create", {}), 401, "UNAUTHORIZED")
        const admin = yield* aMember("org_default", "admin")
        const made = yield* make(admin)
        assert.strictEqual(made.status, 200)
        const key = made.text("key")
        const [row] = yield* onDatabase((sql) =>
          sql<{ readonly key: string; readonly organization_id: string; readonly permissions: string | null }>`
            select key, organization_id, permissions from api_keys where id = ${made.text("id")}::uuid`
        )
        assert.deepStrictEqual(row, {
          key: createHash("sha256").update(key).digest("base64url"),
          organization_id: "org_default",
          permissions: null
        })
        const listed = yield* admin.browser.get("/api/auth/api-key/list")
        assert.strictEqual(listed.at("total"), 1)
        assert.notInclude(JSON.stringify(listed.body), key)
        for (const secret of [{ permissions: { "*": ["*"] } }, { rateLimitMax: 1 }, { remaining: 5 }]) {
          assert.strictEqual((yield* make(admin, { name: "till", ...secret })).status, 400, JSON.stringify(secret))
        }
      }))

    it.effect("are nobody else's to read, change or delete", () =>
      Effect.gen(function*() {
        const admin = yield* aMember("org_default", "admin")
        const other = yield* aMember("org_default", "admin")
        const id = (yield* make(admin)).text("id")
        assert.strictEqual((yield* other.browser.get(`/api/auth/api-key/get?id=${id}`)).status, 404)
        const change = { keyId: id, enabled: false }
        assert.strictEqual((yield* other.browser.post("/api/auth/api-key/update", change)).status, 404)
        assert.strictEqual((yield* other.browser.post("/api/auth/api-key/delete", { keyId: id })).status, 404)
        assert.strictEqual((yield* admin.browser.post("/api/auth/api-key/update", change)).at("enabled"), false)
        assert.deepStrictEqual((yield* admin.browser.post("/api/auth/api-key/delete", { keyId: id })).body, {
          success: true
        })
      }))

    it.effect("no organization is made where the deployment does not allow it", () =>
      Effect.gen(function*() {
        const { browser } = yield* aVisitor()
        const answer = yield* browser.post(`${organization}/create`, { name: "Mine", slug: randomUUID() })
        assert.strictEqual(answer.status, 403)
      }))
  }
)
