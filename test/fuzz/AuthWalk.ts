import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { aVisitor, type makeOutbox, newEmail, password, signIn, totp } from "../auth/Visitors.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { type Browser, makeBrowser } from "../support/Browser.ts"
import { api } from "../support/TestApp.ts"

const auth = "/api/auth"
const organization = `${auth}/organization`

/** Sessions and the account itself. */
const accountWalk = Effect.fnUntraced(function*(outbox: ReturnType<typeof makeOutbox>) {
  const { browser, email, userId } = yield* aVisitor()
  for (const path of ["ok", "get-session", "list-sessions", "list-accounts", "error"]) {
    yield* browser.get(`${auth}/${path}`)
  }
  yield* browser.post(`${auth}/update-user`, { name: "Countess" })
  const second = yield* signIn(email)
  yield* browser.post(`${auth}/revoke-session`, { token: second.answer.at("token") })
  yield* browser.post(`${auth}/revoke-other-sessions`, {})
  yield* onDatabase((sql) =>
    sql`insert into user_accounts (id, account_id, provider_id, user_id)
      values (gen_random_uuid(), ${userId}, 'google', ${userId}::uuid)`
  )
  const ways = yield* browser.get(`${auth}/list-accounts`)
  const google = ways.at("0.providerId") === "google" ? ways.at("0.id") : ways.at("1.id")
  yield* browser.post(`${auth}/unlink-account`, { accountId: google })
  yield* browser.post(`${auth}/link-social`, { provider: "google", callbackURL: "/" })
  yield* browser.post(`${auth}/change-password`, { currentPassword: password, newPassword: "another horse 1" })
  yield* browser.post(`${auth}/revoke-sessions`, {})
  yield* browser.post(`${auth}/sign-out`, {})
  yield* api("POST", `${auth}/request-password-reset`, { body: { email, redirectTo: "/new" } })
  const link = yield* outbox.linkTo(email, "password-reset")
  yield* api("GET", `${link.pathname}${link.search}`)
  const token = link.pathname.split("/").at(-1)
  yield* api("POST", `${auth}/reset-password`, { body: { token, newPassword: password } })
})

/** Ways in from elsewhere: links of mails, and providers of sign-in. */
const elsewhereWalk = Effect.fnUntraced(function*(outbox: ReturnType<typeof makeOutbox>) {
  const [browser, { email }] = [makeBrowser(), yield* aVisitor()]
  yield* browser.post(`${auth}/send-verification-email`, { email: newEmail() })
  yield* browser.post(`${auth}/send-verification-email`, { email })
  const link = yield* outbox.linkTo(email, "email-verification")
  yield* browser.get(`${link.pathname}${link.search}`)
  const token = link.searchParams.get("token")
  yield* browser.post(`${auth}/verify-email`, { token, newPassword: "a horse of my own" })
  yield* browser.post(`${auth}/sign-in/social`, { provider: "google", callbackURL: "/welcome" })
  yield* browser.get(`${auth}/callback/google?code=x&state=forged`)
  yield* browser.post(`${auth}/callback/google?code=x&state=forged`, {})
})

/** A second factor, from its beginning to its end. */
const factorWalk = Effect.fnUntraced(function*() {
  const { browser, email } = yield* aVisitor()
  const enabled = yield* browser.post(`${auth}/two-factor/enable`, { password })
  const uri = enabled.text("totpURI")
  const verify = (by: Browser, periods: number) =>
    by.post(`${auth}/two-factor/verify-totp`, { code: totp(uri, periods) })
  yield* verify(browser, 0)
  yield* browser.post(`${auth}/two-factor/get-totp-uri`, { password })
  const codes = yield* browser.post(`${auth}/two-factor/generate-backup-codes`, { password })
  const again = yield* signIn(email)
  yield* again.browser.post(`${auth}/two-factor/verify-backup-code`, { code: codes.list("backupCodes")[0] })
  yield* again.browser.post(`${auth}/two-factor/disable`, { password })
})

const invitation = (userId: string, id: string, email: string) =>
  Effect.map(
    onDatabase((sql) =>
      sql<{ readonly id: string }>`insert into invitations (organization_id, email, role, inviter_id, expires_at)
        values (${id}, ${email}, 'staff', ${userId}::uuid, now() + interval '1 day') returning id`
    ),
    ([row]) => row?.id
  )

/** An organization, its invitations and the keys of its owner. */
const organizationWalk = Effect.fnUntraced(function*() {
  const [owner, guest] = [yield* aVisitor(), yield* aVisitor()]
  yield* onDatabase((sql) => sql`update users set email_verified = true where id = ${guest.userId}::uuid`)
  const { browser } = owner
  const post = (name: string, body: object, by = browser) => by.post(`${organization}/${name}`, body)
  yield* post("check-slug", { slug: randomUUID() })
  const organizationId = (yield* post("create", { name: "Mugs", slug: randomUUID() })).text("id")
  yield* post("set-active", { organizationId })
  yield* post("update", { organizationId, data: { name: "Cups" } })
  for (const name of ["list", "get-full-organization", "list-members", "list-invitations", "get-active-member"]) {
    yield* browser.get(`${organization}/${name}`)
  }
  yield* post("has-permission", { permissions: { organization: ["update"] } })
  const invite = invitation(owner.userId, organizationId, guest.email)
  yield* post("reject-invitation", { invitationId: yield* invite }, guest.browser)
  yield* post("cancel-invitation", { invitationId: yield* invite })
  yield* post("accept-invitation", { invitationId: yield* invite }, guest.browser)
  const key = yield* browser.post(`${auth}/api-key/create`, { name: "Robot" })
  yield* browser.get(`${auth}/api-key/list`)
  yield* browser.get(`${auth}/api-key/get?id=${key.at("id")}`)
  yield* browser.post(`${auth}/api-key/update`, { keyId: key.at("id"), name: "Other" })
  yield* browser.post(`${auth}/api-key/delete`, { keyId: key.at("id") })
  const empty = (yield* post("create", { name: "Empty", slug: randomUUID() })).text("id")
  yield* post("delete", { organizationId: empty })
})

/** Everything that can be done under `/api/auth`. */
export const authWalk = Effect.fnUntraced(function*(outbox: ReturnType<typeof makeOutbox>) {
  yield* accountWalk(outbox)
  yield* elsewhereWalk(outbox)
  yield* factorWalk()
  yield* organizationWalk()
})
