import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { createHmac, randomUUID } from "node:crypto"
import { windowEnd } from "../../src/domain/platform/ratelimits/RateLimits.ts"
import { emailSubject } from "../../src/http/server/RateLimiting.ts"
import type { AdapterMail } from "../../src/layers/mail/MailTransport.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { type Browser, makeBrowser } from "../support/Browser.ts"
import { eventually } from "../support/Eventually.ts"
import { aProduct, checkOut, putInto } from "../support/Purchase.ts"
import { type Answer, api } from "../support/TestApp.ts"

/** A password that is hard to guess. */
export const password = "correct horse battery"

/** What is counted by e-mail address for 15 minutes at a time. */
const perEmail = ["signInPerEmail:", "mailPerRecipient:password-reset:", "mailPerRecipient:email-verification:"]

/** An address without an account, none of whose limits begins a new window during a test. */
export const newEmail = (): string => {
  const [email, now] = [`${randomUUID()}@example.com`, Date.now()]
  const subject = emailSubject(email)
  const hasTime = perEmail.every((limit) => windowEnd(`${limit}${subject}`, 900_000, now) - now > 60_000)
  return hasTime ? email : newEmail()
}

/** A visitor who has signed up, with their browser. */
export interface Visitor {
  readonly browser: Browser
  readonly email: string
  readonly userId: string
  readonly answer: Answer
}

/** Signs a visitor up; where addresses need no verification they are signed in then. */
export const aVisitor = Effect.fnUntraced(function*(email: string = newEmail(), browser: Browser = makeBrowser()) {
  const answer = yield* browser.post("/api/auth/sign-up/email", { name: "Ada", email, password })
  const visitor: Visitor = { browser, email, userId: answer.text("user.id"), answer }
  return visitor
})

/** Gives a user a role in an organization. */
export const become = ({ userId }: { readonly userId: string }, role: string, organization = "org_default") =>
  onDatabase((sql) =>
    sql`insert into members (organization_id, user_id, role) values (${organization}, ${userId}::uuid, ${role})
      on conflict (organization_id, user_id) do update set role = excluded.role`
  )

/** A visitor with a role in an organization, which is the active one of their session. */
export const aMember = Effect.fnUntraced(function*(role: string, organization = "org_default") {
  const member = yield* aVisitor()
  yield* become(member, role, organization)
  yield* member.browser.post("/api/auth/organization/set-active", { organizationId: organization })
  return member
})

/** A visitor who has created an organization, which is the active one of their session. */
export const anOwner = Effect.gen(function*() {
  const owner = yield* aVisitor()
  const made = yield* owner.browser.post("/api/auth/organization/create", { name: "Mugs", slug: randomUUID() })
  assert.strictEqual(made.status, 200, JSON.stringify(made.body))
  const found: Visitor & { readonly id: string } = { ...owner, id: made.text("id") }
  return found
})

/** An invitation to an organization for a user, whose address is verified. */
export const invite = Effect.fnUntraced(function*(organization: string, by: Visitor, guest: Visitor, role = "staff") {
  yield* onDatabase((sql) => sql`update users set email_verified = true where id = ${guest.userId}::uuid`)
  const [row] = yield* onDatabase((sql) =>
    sql<{ readonly id: string }>`insert into invitations (organization_id, email, role, inviter_id, expires_at)
      values (${organization}, ${guest.email}, ${role}, ${by.userId}::uuid, now() + interval '1 day') returning id`
  )
  return { invitationId: row?.id ?? "" }
})

/** The refusal in both forms: the service's envelope, and the fields of better-auth beside it. */
export const refused = (answer: Answer, status: number, code: string, about = "") => {
  assert.deepStrictEqual([answer.status, answer.at("code"), answer.at("error.code")], [status, code, code], about)
  assert.strictEqual(answer.at("error.message"), answer.at("message"))
}

/** Signs in with a new browser. */
export const signIn = Effect.fnUntraced(
  function*(email: string, secret: string = password, browser: Browser = makeBrowser()) {
    const answer = yield* browser.post("/api/auth/sign-in/email", { email, password: secret })
    return { browser, answer }
  }
)

/** The user whose session a token opens; undefined for none. */
export const holderOf = (token: string) =>
  Effect.map(
    api("GET", "/api/auth/get-session", { headers: { authorization: `Bearer ${token}` } }),
    (answer) => answer.at("user.email")
  )

export const isSignedIn = (browser: Browser) =>
  Effect.map(browser.get("/api/auth/get-session"), ({ body }) => body !== null)

/** Confirms a verification link, in a new browser unless one is given; there the account gets the password. */
export const verify = (link: URL, browser: Browser = makeBrowser(), newPassword = password) => {
  const token = link.searchParams.get("token")
  return browser.post(`${link.pathname}${link.search}`, { token, newPassword })
}

/** A guest buys something and leaves an e-mail address; gives the order's id. */
export const boughtBy = Effect.fnUntraced(function*(email: string) {
  const entityId = yield* aProduct()
  const made = yield* api("POST", "/api/carts", { body: { currency: "USD", email } })
  const cart = { id: made.text("data.id"), headers: { "x-cart-secret": made.text("data.secret") } }
  yield* putInto(cart, entityId)
  return (yield* checkOut(cart)).text("data.id")
})

/** Keeps the mails that a deployment sends. */
export const makeOutbox = () => {
  const mails: Array<AdapterMail> = []
  return {
    mails,
    send: (mail: AdapterMail) => Effect.sync(() => mails.push(mail)),
    /** The link of the newest mail of a template to an address, once it has been sent; removes the mail. */
    linkTo: (to: string, template: AdapterMail["template"]) =>
      eventually(
        `a mail ${template}`,
        Effect.sync(() => {
          const at = mails.findIndex((mail) => mail.to === to && mail.template === template)
          const [mail] = at === -1 ? [] : mails.splice(at, 1)
          const link = mail && Object.entries(mail.data).find(([name]) => name.endsWith("Url"))?.[1]
          return typeof link === "string" ? new URL(link) : undefined
        })
      )
  }
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

const fromBase32 = (text: string): Buffer => {
  const bits = [...text.replace(/=+$/, "")].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0"))
  return Buffer.from((bits.join("").match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

/** The code that an authenticator app shows for an address, a number of periods from now (RFC 6238). */
export const totp = (uri: string, periods = 0): string => {
  const secret = new URL(uri).searchParams.get("secret") ?? ""
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + periods))
  const mac = createHmac("sha1", fromBase32(secret)).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 15
  return String((mac.readUInt32BE(offset) & 0x7f_ff_ff_ff) % 1_000_000).padStart(6, "0")
}

/** Sets a second factor up and verifies its first code. */
export const setUpFactor = Effect.fnUntraced(function*(browser: Browser) {
  const enabled = yield* browser.post("/api/auth/two-factor/enable", { password })
  const uri = enabled.text("totpURI")
  const code = totp(uri)
  const verified = yield* browser.post("/api/auth/two-factor/verify-totp", { code })
  assert.strictEqual(verified.status, 200, JSON.stringify(verified.body))
  return { uri, code, codes: enabled.list("backupCodes"), token: verified.text("token") }
})
