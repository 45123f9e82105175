import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { normalizesEmails } from "../../src/domain/platform/text/NormalizedEmailsRepo.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { imported } from "../import-export/ImportFixtures.ts"
import { makeBrowser } from "../support/Browser.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"
import { aVisitor, password, refused, signIn } from "./Visitors.ts"

const app = testAppLayer({ auth: { requireEmailVerification: false } }, { logLevel: "none" })
const verified = testAppLayer({ auth: { requireEmailVerification: true } }, { logLevel: "none" })

const signingUp = (email: string) => makeBrowser().post("/api/auth/sign-up/email", { name: "Ada", email, password })

const word = () => randomUUID().slice(0, 8)

layer(app, live)("accounts of any e-mail address", (it) => {
  it.effect("sign up and sign in beyond ASCII, in any spelling, and show the address as it is stored", () =>
    Effect.gen(function*() {
      for (
        const [sent, stored, other] of [
          [`José-${word()}@Exämple.com`, "@xn--exmple-cua.com", (text: string) => text.toUpperCase()],
          [`ann-${word()}@пример.рф`, "@xn--e1afmkfd.xn--p1ai", (text: string) => ` ${text}`],
          [`o'hara#${word()}@example.com`, "@example.com", (text: string) => text]
        ] as const
      ) {
        const { answer } = yield* aVisitor(sent)
        assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
        const [local = ""] = sent.split("@")
        assert.strictEqual(answer.at("user.email"), `${local.toLowerCase()}${stored}`)
        const again = yield* signIn(other(sent))
        assert.strictEqual(again.answer.at("user.email"), answer.at("user.email"))
        const session = yield* again.browser.get("/api/auth/get-session")
        assert.strictEqual(session.at("user.email"), answer.at("user.email"))
        refused(yield* signingUp(other(sent)), 422, "USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL")
      }
    }))

  it.effect("sign in where they are older than the rule, and no new one signs up like that", () =>
    Effect.gen(function*() {
      const { email } = yield* aVisitor()
      const old = `root-${word()}@localhost`
      yield* onDatabase((sql) => sql`update users set email = ${old} where email = ${email}`)
      const { answer } = yield* signIn(old.toUpperCase())
      assert.deepStrictEqual([answer.status, answer.at("user.email")], [200, old])
      refused(yield* signingUp(`new-${word()}@localhost`), 400, "VALIDATION_ERROR")
      refused(yield* signingUp("a@example.com, b@example.com"), 400, "VALIDATION_ERROR")
    }))

  it.effect("are not opened by the alias under which better-auth knows them", () =>
    Effect.gen(function*() {
      const email = `josé-${word()}@example.com`
      yield* aVisitor(email)
      const alias = `x${Buffer.from(email).toString("hex")}@alias.stoa.invalid`
      refused(yield* signingUp(alias), 400, "VALIDATION_ERROR")
      assert.strictEqual((yield* signIn(alias)).answer.status, 400)
    }))

  it.effect("are normalized and refused by the same rule in carts, profiles and invitations", () =>
    Effect.gen(function*() {
      const local = word()
      const [sent, stored] = [` ${local}@EXÄMPLE.com`, `${local}@xn--exmple-cua.com`]
      const cart = yield* api("POST", "/api/carts", { body: { currency: "USD", email: sent } })
      const profile = yield* api("POST", "/api/customers", { as: asAdmin, body: { email: sent } })
      assert.deepStrictEqual([cart.at("data.email"), profile.at("data.email")], [stored, stored])
      for (
        const email of ["no-address", "a@example.com, b@example.com", "a@example.com\r\nBcc: c@example.com", "a@b"]
      ) {
        for (const path of ["carts", "customers", "admin/staff/invitations"]) {
          const body = path.endsWith("invitations")
            ? { role: "staff", email }
            : { email, ...(path === "carts" ? { currency: "USD" } : {}) }
          const answer = yield* api("POST", `/api/${path}`, { as: asAdmin, body })
          assert.deepStrictEqual(
            [answer.status, answer.at("error.details.issues.0.path")],
            [422, "email"],
            `${path} ${email}`
          )
        }
      }
    }))
})

layer(app, live)("e-mail addresses of an older version", (it) => {
  it.effect("are normalized once, and what is no address stays as it is", () =>
    Effect.gen(function*() {
      const local = word()
      const olds = [` Ann-${local}@Exämple.COM `, `no address ${local}`, `Bob-${local}@example.com`]
      const made = yield* Effect.forEach(olds, () => api("POST", "/api/customers", { as: asAdmin, body: {} }))
      const ids = made.map((answer) => answer.text("data.id"))
      const kept = yield* onDatabase((sql) =>
        Effect.gen(function*() {
          for (const [at, email] of olds.entries()) {
            yield* sql`update customers set email = ${email} where id = ${ids[at] ?? ""}::uuid`
          }
          yield* Effect.provideService(normalizesEmails("customers"), SqlClient.SqlClient, sql)
          return yield* sql<{ readonly email: string }>`select email from customers
            where id = any(${ids}::uuid[]) order by created_at, id`
        })
      )
      const normalized = [`Ann-${local}@xn--exmple-cua.com`, ...olds.slice(1)]
      assert.deepStrictEqual(kept.map(({ email }) => email), normalized)
      const file = JSON.stringify({ email: olds[0]?.trim().toUpperCase(), firstName: "Ann" })
      yield* imported(file, { query: "kind=customers&format=jsonl" })
      assert.strictEqual((yield* api("GET", `/api/customers/${ids[0]}`, { as: asAdmin })).at("data.firstName"), "Ann")
    }))
})

layer(verified, live)("accounts of any e-mail address that is verified", (it) => {
  it.effect("answer a second sign-up as the first, with the address that was sent", () =>
    Effect.gen(function*() {
      const email = `josé-${word()}@example.com`
      const [first, second] = [yield* aVisitor(email), yield* aVisitor(email)]
      assert.deepStrictEqual([first.answer.at("user.email"), second.answer.at("user.email")], [email, email])
    }))
})
