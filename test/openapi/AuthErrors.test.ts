import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { JsonObject } from "../../src/http/openapi/Json.ts"
import { aVisitor } from "../auth/Visitors.ts"
import { answersOf, operationAt, watching } from "../fuzz/Answers.ts"
import { type Operation, operationsOf } from "../fuzz/Operations.ts"
import { api, live, type TestApp, testAppLayer } from "../support/TestApp.ts"

const app = testAppLayer({
  auth: {
    requireEmailVerification: false,
    allowOrganizationCreation: true,
    apiKeys: { enabled: true },
    roles: { owner: ["*:*"] }
  }
})

/** Does this over the operations of authentication; gives what the document forbids of all its answers. */
const forbidden = Effect.fnUntraced(
  function*<A, E>(body: (operations: ReadonlyArray<Operation>) => Effect.Effect<A, E, TestApp>) {
    const document = (yield* api("GET", "/api/doc")).body as JsonObject
    const judge = answersOf(document)
    const operations = operationsOf(document).filter(({ path }) => path.startsWith("/api/auth/"))
    const found: Array<string> = []
    yield* watching(({ method, path, received }) => {
      const operation = operationAt(operations, method, path)
      const what = operation && judge(operation, received)
      if (what !== undefined) found.push(`${method} ${path}: ${received.status} ${what} ${received.text.slice(0, 300)}`)
    }, body(operations))
    return found
  }
)

layer(app, live)("the document", (it) => {
  it.effect("has the errors of the routes of authentication as they are answered", () =>
    Effect.gen(function*() {
      const found = yield* forbidden((operations) =>
        Effect.forEach(operations.filter(({ method }) => method === "POST"), ({ path }) =>
          Effect.all([
            api("POST", path.replace("{provider}", "none"), { headers: { "idempotency-key": "short" }, body: {} }),
            api("POST", path.replace("{provider}", "none"), { body: "x".repeat(1_100_000) })
          ]))
      )
      assert.deepStrictEqual(found, [])
    }))

  it.effect("has members, organizations and keys as they are answered", () =>
    Effect.gen(function*() {
      const found = yield* forbidden(() =>
        Effect.gen(function*() {
          const { browser } = yield* aVisitor()
          const slug = randomUUID()
          const made = yield* browser.post("/api/auth/organization/create", { name: "Mugs", slug })
          const organizationId = made.text("id")
          yield* browser.post("/api/auth/organization/set-active", { organizationId })
          yield* browser.post("/api/auth/organization/set-active", { organizationSlug: slug })
          yield* browser.post("/api/auth/organization/set-active", {})
          for (const name of ["get-full-organization", "list-members", "get-active-member", "list-invitations"]) {
            assert.strictEqual((yield* browser.get(`/api/auth/organization/${name}`)).status, 200, name)
          }
          const unchanged = yield* browser.post("/api/auth/organization/update", { organizationId, data: {} })
          assert.deepStrictEqual([unchanged.status, unchanged.at("slug")], [200, slug], JSON.stringify(unchanged.body))
          const key = yield* browser.post("/api/auth/api-key/create", { name: "Robot" })
          assert.strictEqual(key.status, 200, JSON.stringify(key.body))
          for (
            const query of ["?sortBy=createdAt&sortDirection=desc", "?sortBy=none", "?limit=1&limit=2", "?limit=x"]
          ) {
            yield* browser.get(`/api/auth/api-key/list${query}`)
          }
          yield* browser.get(`/api/auth/api-key/get?id=${key.text("id")}`)
          yield* browser.post("/api/auth/api-key/update", { keyId: key.text("id"), name: "Other" })
        })
      )
      assert.deepStrictEqual(found, [])
    }))
})
