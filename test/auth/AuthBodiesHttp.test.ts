import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { request } from "node:http"
import { api, live, TestApp, testAppLayer } from "../support/TestApp.ts"
import { aVisitor, newEmail, password, refused } from "./Visitors.ts"

const app = testAppLayer({ auth: { requireEmailVerification: false, allowOrganizationCreation: true } })

/** Sends a path as it is written here, which `fetch` would not. */
const sendUnparsed = Effect.fnUntraced(function*(path: string, body: object) {
  const { hostname, port } = new URL((yield* TestApp).url)
  return yield* Effect.promise(() =>
    new Promise<number>((resolve, reject) => {
      const headers = { "content-type": "application/json" }
      const sent = request({ hostname, port, path, method: "POST", headers })
      sent.once("response", (answer) => resolve(answer.resume().statusCode ?? 0)).once("error", reject)
      sent.end(JSON.stringify(body))
    })
  )
})

layer(app, live)("a body under /api/auth", (it) => {
  it.effect("a body under /api/auth is refused and changes nothing when it does not fit its schema", () =>
    Effect.gen(function*() {
      const { browser } = yield* aVisitor()
      for (const body of [{ name: ["x"] }, { name: 1 }, { image: ["x"] }, { image: {} }, ["x"], null, 1]) {
        const answer = yield* browser.call("POST", "/api/auth/update-user", { body: JSON.stringify(body) })
        refused(answer, 400, "VALIDATION_ERROR")
      }
      refused(yield* browser.post("/api/auth/update-user", { name: null }), 400, "BAD_REQUEST")
      assert.strictEqual((yield* browser.post("/api/auth/update-user", { image: null })).status, 200)
      const unread = yield* browser.call("POST", "/api/auth/update-user", { body: "{" })
      refused(unread, 400, "BAD_REQUEST")
      const form = { body: "name=Eve", headers: { "content-type": "application/x-www-form-urlencoded" } }
      refused(yield* browser.call("POST", "/api/auth/update-user", form), 415, "UNSUPPORTED_MEDIA_TYPE")
      assert.strictEqual((yield* browser.get("/api/auth/get-session")).at("user.name"), "Ada")
    }))

  it.effect("a body under /api/auth reaches better-auth with its declared fields alone", () =>
    Effect.gen(function*() {
      const body = { name: "Ada", email: newEmail(), password, emailVerified: true, vendorId: "v1", createdAt: 0 }
      const answer = yield* api("POST", "/api/auth/sign-up/email", { body })
      assert.deepStrictEqual([answer.status, answer.at("user.emailVerified")], [200, false])
      assert.isNull(answer.at("user.vendorId") ?? null)
    }))

  it.effect("a body under /api/auth causes no internal error when it is nested deeply, nor does an odd query", () =>
    Effect.gen(function*() {
      const { browser } = yield* aVisitor()
      const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`
      const key = yield* browser.call("POST", "/api/auth/api-key/create", { body: `{"permissions":${deep}}` })
      assert.isBelow(key.status, 500)
      yield* browser.post("/api/auth/organization/create", { name: "Mugs", slug: newEmail().replace(/\W/g, "-") })
      for (const query of ["sortBy=nosuch", "filterField=createdAt&filterValue=abc", "limit=-1", "offset=-1"]) {
        const listed = yield* browser.get(`/api/auth/organization/list-members?${query}`)
        assert.strictEqual(listed.status, 200, query)
      }
    }))

  it.effect("a body under /api/auth may be a form at sign-up and sign-in", () =>
    Effect.gen(function*() {
      const headers = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" }
      const body = new URLSearchParams({ name: "Ada", email: newEmail(), password }).toString()
      for (const route of ["sign-up", "sign-in"]) {
        assert.strictEqual((yield* api("POST", `/api/auth/${route}/email`, { headers, body })).status, 200, route)
      }
    }))

  it.effect("a body under /api/auth reaches the requested route alone, however the path is written", () =>
    Effect.gen(function*() {
      const { email } = yield* aVisitor()
      for (
        const path of ["..\\sign-in\\email", "..\\sign-in/email", "x\\..\\..\\sign-in\\email", "..\\get-access-token"]
      ) {
        assert.strictEqual(yield* sendUnparsed(`/api/auth/callback/${path}`, { email, password }), 404, path)
      }
      assert.strictEqual(yield* sendUnparsed("/api/auth/sign-in/email", { email, password }), 200)
    }))

  it.effect("a body under /api/auth is refused with a status in the envelope where better-auth gives no body", () =>
    Effect.gen(function*() {
      const body = { name: "Mugs", slug: "mugs", organizationId: "mugs" }
      for (const route of ["create", "delete"]) {
        refused(yield* api("POST", `/api/auth/organization/${route}`, { body }), 401, "UNAUTHORIZED")
      }
    }))
})
