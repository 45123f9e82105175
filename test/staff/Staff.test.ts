import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { type SignedIn, signIn } from "../access/People.ts"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { api, at, withApp } from "../support/TestApp.ts"

/** A store with people who are signed in there. */
const aStore = Effect.fnUntraced(function*<Names extends string>(
  organization: string,
  people: Readonly<Record<Names, string | undefined>>
) {
  yield* onDatabase((sql) =>
    sql`insert into organizations (id, slug, name) values (${organization}, ${organization}, ${organization})`
  )
  const made = yield* Effect.forEach(Object.entries<string | undefined>(people), ([name, role]) =>
    Effect.map(
      signIn({ active: organization, organization, ...(role === undefined ? {} : { role }) }),
      (who) => [name, who] as const
    ))
  // The keys are those of the argument, which the compiler does not carry through entries.
  return Object.fromEntries(made) as Record<Names, SignedIn>
})

/** Makes a user a customer of the store, who may become staff. */
const shops = ({ bearer }: SignedIn) => api("GET", "/api/me/profile", { headers: bearer })

const ask = (who: SignedIn, method: string, path: string, body?: object) =>
  api(method, `/api/admin/staff${path}`, { headers: who.bearer, ...(body && { body }) })

/** The membership of a user in the list of a manager. */
const memberOf = Effect.fnUntraced(function*(manager: SignedIn, { userId }: SignedIn) {
  const found = (yield* ask(manager, "GET", "")).list("data").find((one) => at(one, "userId") === userId)
  return found === undefined ? undefined : { id: String(at(found, "id")), role: String(at(found, "role")) }
})

withApp("the staff of an organization", (it) => {
  it.effect("the staff of an organization is added, listed, changed and removed, with effect at once", () =>
    Effect.gen(function*() {
      const { newcomer, owner } = yield* aStore("org_s1", { owner: "owner", newcomer: undefined })
      const seen = Effect.map(api("GET", "/api/orders", { headers: newcomer.bearer }), ({ status }) => status)
      assert.strictEqual(yield* seen, 403)
      const add = ask(owner, "POST", "", { userId: newcomer.userId, role: "staff" })
      refused(yield* add, 404, "NOT_FOUND", "a person outside the store, whose address it would show")
      yield* shops(newcomer)
      const added = yield* add
      assert.strictEqual(added.status, 201)
      assert.deepStrictEqual(
        [added.at("data.userId"), added.at("data.role"), added.at("data.email"), added.at("data.name")],
        [newcomer.userId, "staff", newcomer.email, "Ada"]
      )
      assert.strictEqual(yield* seen, 200)
      const again = yield* ask(owner, "POST", "", { userId: newcomer.userId, role: "staff" })
      refused(again, 422, "VALIDATION_FAILED", "a member already")
      const id = added.text("data.id")
      const changed = yield* ask(owner, "PATCH", `/${id}`, { role: "customer" })
      assert.deepStrictEqual([changed.status, changed.at("data.role")], [200, "customer"])
      assert.strictEqual(yield* seen, 403)
      const removed = yield* ask(owner, "DELETE", `/${id}`)
      assert.deepStrictEqual(removed.body, { data: { deleted: true } })
      refused(yield* ask(owner, "DELETE", `/${id}`), 404, "NOT_FOUND", "a member who is gone")
      refused(
        yield* ask(owner, "POST", "", { userId: randomUUID(), role: "staff" }),
        404,
        "NOT_FOUND",
        "an unknown user"
      )
      refused(
        yield* ask(owner, "POST", "", { userId: newcomer.userId, role: "king" }),
        422,
        "VALIDATION_FAILED",
        "king"
      )
      const trail = yield* eventually(
        "three entries",
        Effect.map(
          api("GET", `/api/audit/member/${id}`, { headers: owner.bearer }),
          (answer) => answer.list("data").length === 3 ? answer : undefined
        )
      )
      assert.sameMembers(trail.list("data").map((one) => at(one, "event")), [
        "staff.create",
        "staff.update",
        "staff.delete"
      ])
    }))

  it.effect("the staff of an organization is managed by actors with as many permissions and as high a rank", () =>
    Effect.gen(function*() {
      const people = { owner: "owner", second: "owner", admin: "admin", staff: "staff", newcomer: undefined } as const
      const { admin, newcomer, owner, second, staff } = yield* aStore("org_s2", people)
      refused(yield* ask(staff, "GET", ""), 403, "FORBIDDEN", "staff")
      refused(yield* ask(newcomer, "GET", ""), 403, "FORBIDDEN", "a customer")
      const promoted = yield* ask(admin, "POST", "", { userId: newcomer.userId, role: "owner" })
      refused(promoted, 403, "FORBIDDEN", "an admin who makes an owner")
      const above = yield* memberOf(admin, second)
      refused(yield* ask(admin, "PATCH", `/${above?.id}`, { role: "staff" }), 403, "FORBIDDEN", "an admin and an owner")
      refused(yield* ask(admin, "DELETE", `/${above?.id}`), 403, "FORBIDDEN", "an admin who removes an owner")
      const below = yield* memberOf(admin, staff)
      assert.strictEqual((yield* ask(admin, "PATCH", `/${below?.id}`, { role: "admin" })).status, 200)
      assert.strictEqual((yield* ask(owner, "PATCH", `/${above?.id}`, { role: "staff" })).status, 200)
    }))

  it.effect("the staff of an organization always has an owner, also when two leave at once", () =>
    Effect.gen(function*() {
      const { first, second } = yield* aStore("org_s3", { first: "owner", second: "owner" })
      const [one, other] = [yield* memberOf(first, first), yield* memberOf(first, second)]
      const leave = [ask(first, "DELETE", `/${one?.id}`), ask(second, "PATCH", `/${other?.id}`, { role: "staff" })]
      const answers = yield* Effect.all(leave, { concurrency: "unbounded" })
      assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [200, 422])
      const owners = yield* onDatabase((sql) =>
        sql`select 1 from members where organization_id = 'org_s3' and role = 'owner'`
      )
      assert.strictEqual(owners.length, 1)
    }))

  it.effect("the staff of an organization is invited, and invitations end when their inviter is demoted", () =>
    Effect.gen(function*() {
      const { admin, owner } = yield* aStore("org_s4", { owner: "owner", admin: "admin" })
      const offer = { email: "New@Example.com", role: "staff" }
      const invited = yield* ask(admin, "POST", "/invitations", offer)
      assert.deepStrictEqual(
        [invited.status, invited.at("data.email"), invited.at("data.status"), invited.at("data.inviterId")],
        [201, "new@example.com", "pending", admin.userId]
      )
      refused(yield* ask(admin, "POST", "/invitations", { ...offer, role: "owner" }), 403, "FORBIDDEN", "an owner")
      refused(yield* ask(admin, "POST", "/invitations", { ...offer, role: "king" }), 422, "VALIDATION_FAILED", "king")
      refused(
        yield* ask(admin, "POST", "/invitations", { ...offer, email: "x" }),
        422,
        "VALIDATION_FAILED",
        "no address"
      )
      const open = Effect.map(ask(owner, "GET", "/invitations"), (answer) => answer.number("meta.pagination.total"))
      assert.strictEqual(yield* open, 1)
      const member = yield* memberOf(owner, admin)
      assert.strictEqual((yield* ask(owner, "PATCH", `/${member?.id}`, { role: "staff" })).status, 200)
      assert.strictEqual(yield* open, 0)
      const key = { headers: { "x-api-key": "dev-admin-key" }, body: offer }
      refused(yield* api("POST", "/api/admin/staff/invitations", key), 403, "FORBIDDEN", "a key")
    }))

  it.effect("the staff of an organization is not managed by another store", () =>
    Effect.gen(function*() {
      const theirs = yield* aStore("org_s5", { owner: "owner", staff: "staff" })
      const ours = yield* aStore("org_s6", { owner: "owner" })
      const member = yield* memberOf(theirs.owner, theirs.staff)
      refused(yield* ask(ours.owner, "PATCH", `/${member?.id}`, { role: "admin" }), 404, "NOT_FOUND", "a role")
      refused(yield* ask(ours.owner, "DELETE", `/${member?.id}`), 404, "NOT_FOUND", "a removal")
      assert.deepStrictEqual(yield* memberOf(theirs.owner, theirs.staff), member)
      assert.isUndefined(yield* memberOf(ours.owner, theirs.staff))
      // A member of one store may join another as its customer, and their invitations there stay when the first one ends.
      const hire = ask(ours.owner, "POST", "", { userId: theirs.staff.userId, role: "staff" })
      refused(yield* hire, 404, "NOT_FOUND", "a person outside the store")
      yield* onDatabase((sql) =>
        sql`insert into customers (id, organization_id, user_id)
          values (${randomUUID()}::uuid, 'org_s6', ${theirs.staff.userId})`
      )
      assert.strictEqual((yield* hire).status, 201)
      yield* onDatabase((sql) =>
        sql`insert into invitations (organization_id, email, role, expires_at, inviter_id)
          values ('org_s6', 'new@example.com', 'customer', now() + interval '1 day', ${theirs.staff.userId}::uuid)`
      )
      assert.strictEqual((yield* ask(theirs.owner, "DELETE", `/${member?.id}`)).status, 200)
      assert.strictEqual((yield* ask(ours.owner, "GET", "/invitations")).at("meta.pagination.total"), 1)
      const open = yield* ask(theirs.owner, "GET", "/invitations")
      assert.deepStrictEqual([open.list("data"), open.at("meta.pagination.total")], [[], 0])
    }))
})

withApp("the roles and permissions of a deployment", (it) => {
  it.effect("the roles and permissions of a deployment are listed, the permissions by module", () =>
    Effect.gen(function*() {
      const headers = { "x-api-key": "dev-admin-key" }
      const roles = yield* api("GET", "/api/admin/staff/roles", { headers })
      assert.deepStrictEqual(roles.at("data.0"), { role: "owner", permissions: ["*:*"] })
      const all = yield* api("GET", "/api/admin/permissions", { headers })
      const core = all.list("data.core")
      assert.strictEqual(new Set(core).size, core.length)
      assert.deepStrictEqual(all.at("data.plugin"), [])
      const catalog = all.list("data.modules").find((one) => at(one, "module") === "catalog")
      assert.strictEqual(at(catalog, "permissions.0.scope"), "catalog:read")
      for (const role of roles.list("data")) {
        const unknown = Object(at(role, "permissions")).filter((one: string) => one !== "*:*" && !core.includes(one))
        assert.deepStrictEqual(unknown, [], String(at(role, "role")))
      }
    }))
})
