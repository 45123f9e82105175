import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { endpoints } from "../../src/http/docs/Docs.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import type { Entry } from "../events/ChangeLog.ts"
import { type Browser, makeBrowser } from "../support/Browser.ts"
import { type Answer, live, testAppLayer } from "../support/TestApp.ts"
import { anOwner, aVisitor, become, invite, makeOutbox, newEmail, password, signIn, totp } from "./Visitors.ts"

const outbox = makeOutbox()
const app = testAppLayer({
  auth: {
    requireEmailVerification: false,
    allowOrganizationCreation: true,
    socialProviders: { google: { clientId: "shop", clientSecret: "a secret of the shop's" } }
  },
  email: { send: outbox.send },
  rateLimits: { signInPerEmail: 1_000 }
}, { logLevel: "none" })

const auth = "/api/auth"
const organization = `${auth}/organization`

/** An entry with its organization. */
interface Reported extends Entry {
  readonly organization_id: string
}

let requests = 0
const asked = new Set<string>()

/** Sends a request with a new request id, and gives its answer and change log entries. */
const ask = Effect.fnUntraced(function*(browser: Browser, method: "GET" | "POST", path: string, body?: object) {
  const requestId = `auth-recorded-${requests++}`
  asked.add(`${method} ${path.split("?")[0]}`)
  const headers = { "x-request-id": requestId, "user-agent": "a test" }
  const answer = yield* browser.call(method, path, { headers, ...body && { body } })
  const entries = yield* onDatabase((sql) =>
    sql<Reported>`select * from outbox_events where request_id = ${requestId} order by entry_number`
  )
  return { answer, entries, types: entries.map(({ type }) => type).sort() }
})

const post = (browser: Browser, path: string, body: object = {}) => ask(browser, "POST", `${auth}/${path}`, body)

/** The request has the status and records changes of these types by the user. */
const records = Effect.fnUntraced(
  function*(request: ReturnType<typeof ask>, status: number, userId: string, ...types: ReadonlyArray<string>) {
    const made = yield* request
    assert.strictEqual(made.answer.status, status, JSON.stringify(made.answer.body))
    assert.deepStrictEqual(made.types, types.toSorted())
    for (const entry of made.entries) {
      assert.deepStrictEqual(
        [entry.actor_id, entry.actor_type, entry.source, entry.ip, entry.user_agent],
        [userId, "user", "rest", "127.0.0.1", "a test"],
        entry.type
      )
    }
    return made
  }
)

/** Makes entries of a type fail during the work. */
const without = <A, E, R>(type: string, work: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    yield* onDatabase((sql) =>
      sql`create or replace function refuse_entry() returns trigger language plpgsql as
        $$ begin raise exception 'no'; end $$`
    )
    yield* onDatabase((sql) =>
      sql`create trigger refusing before insert on outbox_events for each row
        when (new.type = '${sql.literal(type)}') execute function refuse_entry()`
    )
    const done = yield* work
    yield* onDatabase((sql) => sql`drop trigger refusing on outbox_events`)
    return done
  })

const sessionsOf = (userId: string) =>
  Effect.map(onDatabase((sql) => sql`select 1 from sessions where user_id = ${userId}::uuid`), ({ length }) => length)

layer(app, live)("the change log under /api/auth", (it) => {
  it.effect("the change log under /api/auth records sign-ups, sign-ins, sign-outs and ended sessions", () =>
    Effect.gen(function*() {
      const browser = makeBrowser()
      const email = newEmail()
      const signedUp = yield* post(browser, "sign-up/email", { name: "Ada Lovelace", email, password })
      const id = signedUp.answer.text("user.id")
      yield* records(Effect.succeed(signedUp), 200, id, "users.create", "users.linkAccount", "sessions.create")
      const user = signedUp.entries.find(({ type }) => type === "users.create")
      assert.deepInclude(user, { entity_type: "user", entity_id: id, before: null, organization_id: "org_default" })

      const other = makeBrowser()
      yield* records(post(other, "sign-in/email", { email, password: "wrong horse" }), 401, id)
      const second = yield* records(post(other, "sign-in/email", { email, password }), 200, id, "sessions.create")
      yield* records(
        post(browser, "revoke-session", { token: second.answer.text("token") }),
        200,
        id,
        "sessions.delete"
      )
      yield* signIn(email)
      yield* records(post(browser, "revoke-other-sessions"), 200, id, "sessions.delete")
      const named = yield* records(post(browser, "update-user", { name: "Countess" }), 200, id, "users.update")
      assert.deepStrictEqual(named.entries[0]?.payload["changed"], ["name"])
      yield* records(post(browser, "update-user", { name: "Countess" }), 200, id)
      yield* records(post(browser, "sign-out"), 200, id, "sessions.delete")
      yield* records(post(makeBrowser(), "sign-out"), 200, id)
      const { browser: again } = yield* signIn(email)
      yield* signIn(email)
      yield* records(post(again, "revoke-sessions"), 200, id, "sessions.delete", "sessions.delete")
      const entries = yield* onDatabase((sql) => sql`select * from outbox_events where actor_id = ${id}`)
      for (const secret of [email, "Ada", "Countess", password, second.answer.text("token")]) {
        assert.notInclude(JSON.stringify(entries, (_, value) => typeof value === "bigint" ? 0 : value), secret)
      }
    }))

  it.effect("the change log under /api/auth records changes of passwords, addresses and sign-in methods", () =>
    Effect.gen(function*() {
      const { browser, email, userId } = yield* aVisitor()
      yield* signIn(email)
      const change = { currentPassword: password, newPassword: "another horse", revokeOtherSessions: true }
      const changed = ["users.changePassword", "sessions.create", "sessions.delete", "sessions.delete"]
      yield* records(post(browser, "change-password", { ...change, currentPassword: "wrong" }), 400, userId)
      yield* records(post(browser, "change-password", change), 200, userId, ...changed)

      yield* records(post(browser, "request-password-reset", { email, redirectTo: "/new" }), 200, userId)
      const resetToken = (yield* outbox.linkTo(email, "password-reset")).pathname.split("/").at(-1)
      const reset = post(makeBrowser(), "reset-password", { token: resetToken, newPassword: "a third horse" })
      yield* records(reset, 200, userId, "users.changePassword", "sessions.delete")
      yield* records(reset, 400, userId)

      yield* signIn(email, "a third horse", browser)
      yield* records(post(browser, "send-verification-email", { email }), 200, userId)
      const link = yield* outbox.linkTo(email, "email-verification")
      const seen = ask(makeBrowser(), "GET", `${link.pathname}${link.search}`)
      yield* records(seen, 200, userId)
      const token = { token: link.searchParams.get("token"), newPassword: "a third horse" }
      const replaced = ["users.unlinkAccount", "users.linkAccount"]
      const verify = post(makeBrowser(), "verify-email", token)
      yield* records(verify, 200, userId, "users.verifyEmail", "sessions.delete", ...replaced)

      yield* signIn(email, "a third horse", browser)
      const [linked] = yield* onDatabase((sql) =>
        sql<{ readonly id: string }>`insert into user_accounts (account_id, provider_id, user_id)
          values (${email}, 'google', ${userId}::uuid) returning id`
      )
      const way = { providerId: "google", accountId: linked?.id }
      yield* records(post(browser, "unlink-account", way), 200, userId, "users.unlinkAccount")
      for (const path of ["sign-in/social", "link-social"]) {
        yield* records(post(browser, path, { provider: "google" }), 200, userId)
      }
      asked.add("POST /api/auth/callback/:provider")
    }))

  it.effect("the change log under /api/auth records changes of a second factor without its codes", () =>
    Effect.gen(function*() {
      const { browser, email, userId } = yield* aVisitor()
      const enabled = yield* records(
        post(browser, "two-factor/enable", { password }),
        200,
        userId,
        "users.setUpTwoFactor"
      )
      const uri = enabled.answer.text("totpURI")
      yield* records(post(browser, "two-factor/verify-totp", { code: "000000" }), 401, userId)
      const replaced = ["sessions.create", "sessions.delete"]
      const verify = post(browser, "two-factor/verify-totp", { code: totp(uri) })
      yield* records(verify, 200, userId, "users.enableTwoFactor", ...replaced)
      yield* records(post(browser, "two-factor/get-totp-uri", { password }), 200, userId)
      const codes = yield* records(
        post(browser, "two-factor/generate-backup-codes", { password }),
        200,
        userId,
        "users.changeBackupCodes"
      )
      yield* browser.post(`${auth}/sign-out`, {})
      // The session of the password ends before its answer is sent.
      yield* records(post(browser, "sign-in/email", { email, password }), 200, userId, ...replaced)
      yield* records(post(browser, "two-factor/verify-totp", { code: "000000" }), 401, userId)
      const [code] = codes.answer.list("backupCodes")
      const used = yield* records(
        post(browser, "two-factor/verify-backup-code", { code }),
        200,
        userId,
        "users.changeBackupCodes",
        "sessions.create"
      )
      assert.notInclude(JSON.stringify(used.entries.map(({ payload }) => payload)), String(code))
      const disable = post(browser, "two-factor/disable", { password })
      yield* records(disable, 200, userId, "users.disableTwoFactor", ...replaced)
      for (const path of ["send-otp", "verify-otp"]) {
        yield* records(post(browser, `two-factor/${path}`, { code: "1" }), 400, userId)
      }
      const entries = yield* onDatabase((sql) =>
        sql<Reported>`select payload, before from outbox_events where actor_id = ${userId}`
      )
      assert.notInclude(JSON.stringify(entries), new URL(uri).searchParams.get("secret") ?? "?")
    }))

  it.effect("the change log under /api/auth records changes of an organization, its members and invitations there", () =>
    Effect.gen(function*() {
      const { browser, userId } = yield* aVisitor()
      const make = post(browser, "organization/create", { name: "Mugs", slug: randomUUID() })
      const made = yield* records(make, 200, userId, "organizations.create", "staff.create", "sessions.update")
      const id = made.answer.text("id")
      assert.deepStrictEqual(
        made.entries.filter(({ type }) => type !== "sessions.update").map((entry) => entry.organization_id),
        [id, id]
      )
      const update = post(browser, "organization/update", { organizationId: id, data: { name: "Cups" } })
      const updated = yield* records(update, 200, userId, "organizations.update")
      assert.deepStrictEqual(
        [updated.entries[0]?.before?.["name"], updated.entries[0]?.payload["name"]],
        ["Mugs", "Cups"]
      )
      yield* records(update, 200, userId)
      yield* records(post(browser, "organization/set-active", { organizationId: null }), 200, userId, "sessions.update")
      yield* records(post(browser, "organization/check-slug", { slug: "free" }), 200, userId)
      const permissions = { permissions: { organization: ["update"] }, organizationId: id }
      yield* records(post(browser, "organization/has-permission", permissions), 200, userId)
      const removed = yield* records(
        post(browser, "organization/delete", { organizationId: id }),
        200,
        userId,
        "organizations.delete"
      )
      assert.strictEqual(removed.entries[0]?.organization_id, id)

      const owner = yield* anOwner
      const guest = yield* aVisitor()
      const accept = post(guest.browser, "organization/accept-invitation", yield* invite(owner.id, owner, guest))
      const accepted = yield* records(
        accept,
        200,
        guest.userId,
        "invitations.accept",
        "staff.create",
        "sessions.update"
      )
      assert.deepInclude(accepted.entries.find(({ type }) => type === "staff.create")?.payload, {
        userId: guest.userId,
        role: "staff"
      })
      const other = yield* aVisitor()
      const reject = post(other.browser, "organization/reject-invitation", yield* invite(owner.id, owner, other))
      yield* records(reject, 200, other.userId, "invitations.reject")
      const cancel = post(owner.browser, "organization/cancel-invitation", yield* invite(owner.id, owner, other))
      yield* records(cancel, 200, owner.userId, "invitations.cancel")
      const closed = ["invite-member", "update-member-role", "remove-member", "leave", "create-role", "update-role"]
      for (const name of [...closed, "delete-role"]) {
        yield* records(post(browser, `organization/${name}`), 403, userId)
      }
    }))

  it.effect("the change log under /api/auth records changes of keys in their organization", () =>
    Effect.gen(function*() {
      const owner = yield* anOwner
      const { browser, id, userId } = owner
      yield* become(owner, "admin", id)
      const made = yield* records(post(browser, "api-key/create", { name: "till" }), 200, userId, "apiKeys.create")
      assert.strictEqual(made.entries[0]?.organization_id, id)
      assert.notInclude(JSON.stringify(made.entries[0]?.payload), made.answer.text("key"))
      const change = { keyId: made.answer.text("id"), enabled: false }
      const updated = yield* records(post(browser, "api-key/update", change), 200, userId, "apiKeys.update")
      assert.deepStrictEqual(
        [updated.entries[0]?.before?.["enabled"], updated.entries[0]?.payload["enabled"]],
        [true, false]
      )
      const remove = post(browser, "api-key/delete", { keyId: change.keyId })
      const gone = yield* records(remove, 200, userId, "apiKeys.delete")
      assert.strictEqual(gone.entries[0]?.entity_id, change.keyId)
      for (const [path, status] of [["change-email", 400], ["delete-user", 404]] as const) {
        yield* records(post(browser, path, { newEmail: newEmail() }), status, userId)
      }
    }))

  it.effect("the change log under /api/auth is tested for every route that changes data", () =>
    Effect.sync(() => {
      const unsafe = endpoints().filter(({ method, path }) => method !== "GET" && path.startsWith(`${auth}/`))
      assert.sameMembers(
        [...asked].filter((route) => route.startsWith("POST")),
        unsafe.map(({ method, path }) => `${method} ${path}`)
      )
    }))

  it.effect("the change log under /api/auth undoes a change whose entry cannot be written", () =>
    Effect.gen(function*() {
      const failed = ({ status }: Answer) => assert.isAtLeast(status, 400)
      const email = newEmail()
      for (const type of ["users.create", "users.linkAccount", "sessions.create"]) {
        const signUp = makeBrowser().post(`${auth}/sign-up/email`, { name: "Ada", email, password })
        failed(yield* without(type, signUp))
        assert.strictEqual(
          (yield* onDatabase((sql) => sql`select 1 from users where email = ${email}`)).length,
          0,
          type
        )
      }
      const visitor = yield* aVisitor(email)
      failed((yield* without("sessions.create", signIn(email))).answer)
      failed(yield* without("sessions.delete", visitor.browser.post(`${auth}/sign-out`, {})))
      assert.strictEqual(yield* sessionsOf(visitor.userId), 1)
      const change = { currentPassword: password, newPassword: "another horse" }
      const { browser } = yield* signIn(email)
      failed(yield* without("users.changePassword", browser.post(`${auth}/change-password`, change)))
      assert.strictEqual((yield* signIn(email)).answer.status, 200)

      const slug = randomUUID()
      for (const type of ["staff.create", "sessions.update"]) {
        failed(yield* without(type, browser.post(`${organization}/create`, { name: "Mugs", slug })))
        const there = yield* onDatabase((sql) => sql`select 1 from organizations where slug = ${slug}`)
        assert.strictEqual(there.length, 0, type)
      }
      const owner = yield* anOwner
      const invitation = yield* invite(owner.id, owner, visitor)
      failed(yield* without("staff.create", browser.post(`${organization}/accept-invitation`, invitation)))
      const [left] = yield* onDatabase((sql) =>
        sql<{ readonly status: string }>`select status from invitations where id = ${invitation.invitationId}::uuid`
      )
      assert.strictEqual(left?.status, "pending")
      failed(
        yield* without(
          "organizations.delete",
          owner.browser.post(`${organization}/delete`, { organizationId: owner.id })
        )
      )
      assert.strictEqual((yield* owner.browser.get(`${organization}/get-active-member`)).at("role"), "owner")
    }))
})
