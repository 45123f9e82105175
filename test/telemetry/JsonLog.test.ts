import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { afterAll, vi } from "vitest"
import { afterHook, beforeHook } from "../../src/domain/platform/hooks/Hook.ts"
import { aGuestCart, aProduct, putInto } from "../support/Purchase.ts"
import { api, asAdmin, at, live, testAppLayer } from "../support/TestApp.ts"

/** What the process wrote, line by line. */
const lines: Array<string> = []
const written = vi.spyOn(console, "log").mockImplementation((line: unknown) => void lines.push(String(line)))
afterAll(() => written.mockRestore())

const secrets = {
  "x-cart-secret": "cart-secret-0123456789",
  authorization: "Bearer bearer-token-0123456789",
  cookie: "theme=dark; uc.session_token=session-token-0123456789",
  "x-payment-signature": "signature-0123456789"
}

/** What of the secrets may stand nowhere. */
const values = [
  "cart-secret-0123456789",
  "bearer-token-0123456789",
  "session-token-0123456789",
  "signature-0123456789",
  "parameter-0123456789",
  "hunter2hunter2"
]

const hooks = [
  beforeHook("catalog.beforeRead", ({ context, data }) => {
    if (data.slug === "explode") throw new Error("upstream said no: password=hunter2hunter2")
    if (data.slug === "leak") throw new Error(`upstream said no to ${Object.values(secrets).join(" and ")}`)
    if (data.slug === "bare") throw new Error("no session session-token-0123456789")
    if (data.slug === "sql") return Effect.as(context.db`select ${"parameter-0123456789"}::text::uuid`, data)
    return undefined
  }),
  afterHook(
    "cart.afterAddItem",
    ({ context }) =>
      Effect.sync(() =>
        context.logger.info("a line was added", { token: values[0], cartSecret: context.actor.cartSecret })
      )
  ),
  afterHook("orders.afterGet", () => Effect.void)
]

const app = testAppLayer({ hooks }, { logFormat: "json", logLevel: "info" })

const lineOf = (requestId: string) => {
  const found = lines.map((line): unknown => JSON.parse(line)).filter((line) => at(line, "requestId") === requestId)
  if (found.length === 0) throw new Error(`no line of ${requestId} in\n${lines.join("\n")}`)
  return found
}

layer(app, live)("JSON lines of the log", (it) => {
  it.effect("say which request and which organization they belong to, also after the request has failed", () =>
    Effect.gen(function*() {
      const headers = { "x-request-id": "request-explode" }
      const answer = yield* api("GET", "/api/catalog/entities/explode", { headers, as: asAdmin })
      assert.strictEqual(answer.status, 500)
      const [line] = lineOf("request-explode")
      assert.deepInclude(line, { level: "ERROR", message: "request failed", organizationId: "org_default" })
      assert.include(String(at(line, "cause")), "upstream said no")
    }))

  it.effect("of a hook and of an actor carry the request they serve", () =>
    Effect.gen(function*() {
      const cart = yield* aGuestCart()
      const headers = { ...cart.headers, "x-request-id": "request-add" }
      yield* putInto({ ...cart, headers }, yield* aProduct())
      const line = lineOf("request-add").find((one) => at(one, "annotations.hook") === "cart.afterAddItem")
      assert.deepInclude(line, { organizationId: "org_default" })
      assert.deepStrictEqual(at(line, "message"), ["a line was added", {
        token: "<redacted>",
        cartSecret: "<redacted>"
      }])
    }))

  it.effect("hold no secrets: not of headers, not of causes, not of parameters of statements", () =>
    Effect.gen(function*() {
      for (const path of ["explode", "leak", "bare", "sql"]) {
        const headers = { ...secrets, "x-request-id": `request-secret-${path}` }
        const answer = yield* api("GET", `/api/catalog/entities/${path}`, { headers, as: asAdmin })
        assert.strictEqual(answer.status, 500)
        lineOf(`request-secret-${path}`)
      }
      const log = lines.join("\n")
      assert.include(log, "upstream said no")
      for (const secret of values) assert.notInclude(log, secret)
    }))
})
