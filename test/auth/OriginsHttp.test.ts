import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { endpoints } from "../../src/http/docs/Docs.ts"
import type { Browser } from "../support/Browser.ts"
import { api, testAppLayer } from "../support/TestApp.ts"
import { aVisitor, password, signIn } from "./Visitors.ts"

const app = testAppLayer({
  auth: {
    requireEmailVerification: false,
    trustedOrigins: ["https://shop.example"],
    apiKeys: { enabled: true },
    allowOrganizationCreation: true
  },
  rateLimits: { signInPerEmail: 1_000 }
})

/** Members are the business of staff routes: these refuse everybody, wherever he comes from. */
const closed =
  /organization\/(invite-member|update-member-role|remove-member|leave|create-role|update-role|delete-role)$/

/** Who may manage keys is asked before where he comes from, which better-auth then looks at: see below. */
const ofKeys = /api-key\//

const mutations = () =>
  endpoints().filter(({ method, path }) =>
    path.startsWith("/api/auth/") && method !== "GET" && !closed.test(path) && !ofKeys.test(path)
  ).map(({ path }) => path.replace(":provider", "google"))

const elsewhere = [
  ["none", {}, "MISSING_OR_NULL_ORIGIN"],
  ["null", { origin: "null" }, "MISSING_OR_NULL_ORIGIN"],
  ["a foreign one", { origin: "https://evil.example" }, "INVALID_ORIGIN"],
  ["one that begins like a trusted one", { origin: "https://shop.example.evil.example" }, "INVALID_ORIGIN"],
  ["a foreign referrer", { referer: "https://evil.example/https://shop.example" }, "INVALID_ORIGIN"]
] as const

const cookiesOf = ({ cookies }: Browser) => ({
  cookie: [...cookies].map(([name, { value }]) => `${name}=${value}`).join("; ")
})

layer(app, { excludeTestServices: true, timeout: "60 seconds" })("where a change under /api/auth comes from", (it) => {
  it.effect("has to be a trusted page when a cookie is there, on every route, and what is refused changes nothing", () =>
    Effect.gen(function*() {
      const { answer, browser, email } = yield* aVisitor()
      const cookie = cookiesOf(browser)
      assert.isAbove(mutations().length, 20)
      const body = {
        email,
        password,
        newPassword: "another horse",
        currentPassword: password,
        name: "Eve",
        slug: "eve"
      }
      for (const path of mutations()) {
        for (const [from, headers, code] of elsewhere) {
          const refused = yield* api("POST", path, { headers: { ...cookie, ...headers }, body })
          assert.deepStrictEqual([refused.status, refused.at("error.code")], [403, code], `${path} from ${from}`)
          assert.isNull(refused.headers.get("set-cookie"), path)
        }
      }
      const session = yield* browser.get("/api/auth/get-session")
      assert.deepStrictEqual(
        [session.at("user.name"), session.at("session.token"), session.at("session.activeOrganizationId")],
        ["Ada", answer.at("token"), null]
      )
      assert.strictEqual((yield* signIn(email)).answer.status, 200)
      for (const origin of ["https://shop.example", "http://localhost:3000"]) {
        const changed = yield* api("POST", "/api/auth/update-user", {
          headers: { ...cookie, origin },
          body: { name: "Ada" }
        })
        assert.strictEqual(changed.status, 200, origin)
      }
    }))

  it.effect("is free where a token alone authenticates, and not where a token is nobody's", () =>
    Effect.gen(function*() {
      const { answer, browser } = yield* aVisitor()
      const cookie = cookiesOf(browser)
      const good = { authorization: `Bearer ${answer.text("token")}` }
      const forged = { authorization: `Bearer ${answer.text("token").split("").reverse().join("")}` }
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
      assert.deepStrictEqual(yield* rename(good), [200, undefined])
      assert.strictEqual((yield* browser.get("/api/auth/get-session")).at("user.name"), "Countess")
    }))
})
