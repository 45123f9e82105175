import { assert, layer, vi } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { makeBrowser } from "../support/Browser.ts"
import { api, live, testAppLayer } from "../support/TestApp.ts"
import { aVisitor, makeOutbox, password, signIn, totp, verify } from "./Visitors.ts"

const outbox = makeOutbox()
/** All lines, in the form for people, which is not redacted when it is written. */
const app = testAppLayer({ email: { send: outbox.send } }, { logLevel: "debug", logFormat: "pretty" })

const written: Array<string> = []
const keep = (...line: ReadonlyArray<unknown>) => {
  written.push(
    line.map((part) => part instanceof Error ? `${part.stack}` : typeof part === "string" ? part : JSON.stringify(part))
      .join(" ")
  )
}
for (const method of ["log", "info", "warn", "error", "debug"] as const) {
  vi.spyOn(console, method).mockImplementation(keep)
}

/** All secrets of a round of flows. */
const everything = Effect.gen(function*() {
  const secrets = [password, "wrong horse", "brand-new horse"]
  const { email } = yield* aVisitor()
  const link = yield* outbox.linkTo(email, "email-verification")
  secrets.push(link.searchParams.get("token") ?? "")
  yield* makeBrowser().get(`${link.pathname}?token=broken`)
  yield* makeBrowser().get(`${link.pathname}${link.search}`)
  yield* verify(link)
  yield* signIn(email, "wrong horse")
  const { answer, browser } = yield* signIn(email)
  secrets.push(answer.text("token"), browser.cookies.get("uc.session_token")?.value ?? "")
  const factor = yield* browser.post("/api/auth/two-factor/enable", { password })
  const uri = factor.text("totpURI")
  secrets.push(new URL(uri).searchParams.get("secret") ?? "", ...factor.list("backupCodes").map(String))
  yield* browser.post("/api/auth/two-factor/verify-totp", { code: totp(uri) })
  const second = yield* signIn(email)
  const used = yield* second.browser.post("/api/auth/two-factor/verify-totp", { code: totp(uri, 1) })
  secrets.push(used.text("token"), second.browser.cookies.get("uc.session_token")?.value ?? "")
  yield* api("POST", "/api/auth/request-password-reset", { body: { email, redirectTo: "/new" } })
  const token = (yield* outbox.linkTo(email, "password-reset")).pathname.split("/").at(-1) ?? ""
  secrets.push(token)
  yield* api("POST", "/api/auth/reset-password", { body: { token, newPassword: "brand-new horse" } })
  yield* api("POST", "/api/auth/reset-password", { body: { token, newPassword: "brand-new horse" } })
  yield* api("GET", "/api/auth/get-session", { headers: { authorization: `Bearer ${answer.text("token")}` } })
  yield* api("POST", "/api/auth/sign-in/email", {
    headers: { origin: "https://evil.example" },
    body: { email, password }
  })
  return { email, secrets }
})

layer(app, live)("the log", (it) => {
  it.effect("the log has lines about sign-ins without secrets, also when the database fails", () =>
    Effect.gen(function*() {
      const { email, secrets } = yield* everything
      yield* onDatabase((sql) =>
        sql`create function refuse() returns trigger language plpgsql as
        $$ begin raise exception 'no %', new; end $$`
      )
      yield* onDatabase((sql) =>
        sql`create trigger refusing before insert on sessions for each row execute function refuse()`
      )
      const other = (yield* aVisitor()).email
      yield* verify(yield* outbox.linkTo(other, "email-verification"))
      const broken = yield* signIn(other)
      assert.isAtLeast(broken.answer.status, 500)
      const log = written.join("\n")
      assert.include(log, "authentication:")
      assert.isTrue(secrets.every((secret) => secret.length > 5))
      assert.deepStrictEqual(secrets.filter((secret) => log.includes(secret)), [])
      assert.isAbove(email.length, 0)
      assert.notInclude(log, "better-auth-secret")
    }))
})
