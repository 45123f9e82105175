import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { endpoints } from "../../src/http/docs/Docs.ts"
import type { Browser } from "../support/Browser.ts"
import { api, live, testAppLayer } from "../support/TestApp.ts"
import { aVisitor, password, refused, signIn } from "./Visitors.ts"

const app = testAppLayer({
  auth: {
    requireEmailVerification: false,
    trustedOrigins: ["https://shop.example"],
    apiKeys: { enabled: true },
    allowOrganizationCreation: true
  },
  rateLimits: { signInPerEmail: 1_000 }
})

/** Routes that refuse every request from any origin, since the staff routes manage members. */
const closed =
  /organization\/(invite-member|update-member-role|remove-member|leave|create-role|update-role|delete-role)$/

/** Providers send forms from their origins. */
const fromProviders = "/api/auth/callback/"

const mutations = () =>
  endpoints().filter(({ method, path }) => path.startsWith("/api/auth/") && method !== "GET").map(({ path }) =>
    path.replace(":provider", "google")
  )

const elsewhere = [
  ["no origin", {}, "MISSING_OR_NULL_ORIGIN"],
  ["null", { origin: "null" }, "MISSING_OR_NULL_ORIGIN"],
  ["a foreign origin", { origin: "https://evil.example" }, "INVALID_ORIGIN"],
  ["an origin that begins like a trusted one", { origin: "https://shop.example.evil.example" }, "INVALID_ORIGIN"],
  ["a foreign referrer", { referer: "https://evil.example/https://shop.example" }, "INVALID_ORIGIN"]
] as const

const cookiesOf = ({ cookies }: Browser) => ({
  cookie: [...cookies].map(([name, { value }]) => `${name}=${value}`).join("; ")
})

layer(app, live)("a change under /api/auth", (it) => {
  it.effect("a change under /api/auth with a cookie is refused from any untrusted origin, on every route, and changes nothing", () =>
    Effect.gen(function*() {
      const { answer, browser, email } = yield* aVisitor()
      const cookie = cookiesOf(browser)
      const names = { email, name: "Eve", slug: "eve" }
      const body = { ...names, password, newPassword: "another horse", currentPassword: password }
      // better-auth itself checks the origin after the permission to manage keys: see below.
      const open = mutations().filter((path) => !closed.test(path) && !path.includes("/api-key/"))
      assert.isAbove(open.length, 20)
      for (const path of open) {
        for (const [from, headers, code] of elsewhere) {
          const sent = yield* api("POST", path, { headers: { ...cookie, ...headers }, body })
          assert.deepStrictEqual([sent.status, sent.at("error.code")], [403, code], `${path} from ${from}`)
          assert.isNull(sent.headers.get("set-cookie"), path)
        }
      }
      const session = yield* browser.get("/api/auth/get-session")
      assert.deepStrictEqual(
        [session.at("user.name"), session.at("session.token"), session.at("session.activeOrganizationId")],
        ["Ada", answer.at("token"), null]
      )
      assert.strictEqual((yield* signIn(email)).answer.status, 200)
      for (const origin of ["https://shop.example", "http://localhost:3000"]) {
        const renamed = { headers: { ...cookie, origin }, body: { name: "Ada" } }
        assert.strictEqual((yield* api("POST", "/api/auth/update-user", renamed)).status, 200, origin)
      }
    }))

  it.effect("a change under /api/auth without a cookie is refused from a foreign origin, in any form, and removes no cookie", () =>
    Effect.gen(function*() {
      for (const path of mutations().filter((one) => !one.startsWith(fromProviders))) {
        for (const type of ["application/json", "application/x-www-form-urlencoded", "text/plain"]) {
          for (
            const [origin, code] of [["https://evil.example", "INVALID_ORIGIN"], ["null", "MISSING_OR_NULL_ORIGIN"]]
          ) {
            const headers = { origin: origin ?? "", "content-type": type }
            const answer = yield* api("POST", path, { headers, body: "{}" })
            assert.strictEqual(answer.status, 403, path)
            if (!closed.test(path)) refused(answer, 403, code ?? "", path)
            assert.isNull(answer.headers.get("set-cookie"), path)
          }
        }
      }
    }))

  it.effect("a change under /api/auth is accepted from any origin with a valid token alone", () =>
    Effect.gen(function*() {
      const { answer, browser } = yield* aVisitor()
      const cookie = cookiesOf(browser)
      const token = answer.text("token")
      const forged = { authorization: `Bearer ${token.split("").reverse().join("")}` }
      const rename = (headers: Record<string, string>) =>
        Effect.map(
          api("POST", "/api/auth/update-user", {
            headers: { origin: "https://evil.example", ...headers },
            body: { name: "Countess" }
          }),
          ({ at, status }) => [status, at("error.code")]
        )
      assert.deepStrictEqual(yield* rename({ ...forged, ...cookie }), [403, "INVALID_ORIGIN"])
      assert.deepStrictEqual(yield* rename(forged), [401, "UNAUTHORIZED"])
      assert.deepStrictEqual(yield* rename({ "x-api-key": "dev-admin-key", ...cookie }), [403, "INVALID_ORIGIN"])
      assert.strictEqual((yield* browser.get("/api/auth/get-session")).at("user.name"), "Ada")
      assert.deepStrictEqual(yield* rename({ authorization: `Bearer ${token}` }), [200, undefined])
      assert.strictEqual((yield* browser.get("/api/auth/get-session")).at("user.name"), "Countess")
      const signOut = (headers: Readonly<Record<string, string>>) =>
        Effect.map(api("POST", "/api/auth/sign-out", { headers, body: {} }), ({ status }) => status)
      const evil = { origin: "https://evil.example", authorization: `Bearer ${token}` }
      assert.deepStrictEqual(
        [yield* signOut({ origin: "https://shop.example" }), yield* signOut({}), yield* signOut(evil)],
        [200, 200, 200]
      )
    }))
})
