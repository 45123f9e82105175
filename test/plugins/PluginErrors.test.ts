import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { randomUUID } from "node:crypto"
import { ApiError, apiError, definePlugin, group } from "stoa/plugin"
import { lastingRates } from "../support/LastingRates.ts"
import { api, asAdmin, at, live, testAppLayer } from "../support/TestApp.ts"

class PinLocked extends apiError(
  "PinLocked",
  { status: 429, code: "PIN_LOCKED", retryAfter: 29.2 },
  (tries: number) => `${tries} wrong PINs.`
) {}

const routes = group("Till", "/till")
let opened = 0

const till = definePlugin({
  id: "till",
  version: "1.0.0",
  routes: () => [
    routes.post("/unlock", {
      auth: true,
      success: Schema.Null,
      errors: [PinLocked, { status: 402, code: "NOT_PAID" }]
    }).handle(() => Effect.andThen(Effect.sync(() => opened++), new PinLocked(5))),
    routes.get("/:id/caught", { auth: true, success: Schema.String }).handle(() =>
      new PinLocked(3).pipe(Effect.catchTag("ApiError/PinLocked", ({ message }) => Effect.succeed(message)))
    ),
    routes.get("/odd", { auth: true, success: Schema.Null }).handle(() =>
      Effect.fail(ApiError.of({ status: 200, code: "FINE", message: "no error" }))
    ),
    ...["/check", "/peek"].map((path) =>
      routes.post(path, { public: "who knows a code may ask", rate: "strict", success: Schema.Null })
        .handle(() => Effect.succeed(null))
    )
  ]
})

layer(testAppLayer({ plugins: [till] }, { rateLimits: lastingRates({ strict: 2 }) }), live)(
  "a plugin's own errors",
  (it) => {
    it.effect("are answered with their status, code and Retry-After, and free an Idempotency-Key", () =>
      Effect.gen(function*() {
        const headers = { "idempotency-key": "till-unlock-1" }
        const locked = yield* api("POST", "/api/till/unlock", { as: asAdmin, headers })
        assert.deepStrictEqual([locked.status, locked.body], [429, {
          error: { code: "PIN_LOCKED", message: "5 wrong PINs." }
        }])
        assert.strictEqual(locked.headers.get("retry-after"), "30")
        yield* api("POST", "/api/till/unlock", { as: asAdmin, headers })
        assert.strictEqual(opened, 2)
      }))

    it.effect("stand in the document", () =>
      Effect.gen(function*() {
        const { body } = yield* api("GET", "/api/doc")
        const { responses } = Reflect.get(Object(at(body, "paths")), "/api/till/unlock").post
        assert.include(JSON.stringify(responses[429]), "PIN_LOCKED")
        assert.include(JSON.stringify(responses[402]), "NOT_PAID")
      }))

    it.effect("are caught by their tag", () =>
      Effect.gen(function*() {
        const answer = yield* api("GET", `/api/till/${randomUUID()}/caught`, { as: asAdmin })
        assert.strictEqual(answer.at("data"), "3 wrong PINs.")
      }))

    it.effect("are a 500 without detail when no answer can have their status", () =>
      Effect.gen(function*() {
        const answer = yield* api("GET", "/api/till/odd", { as: asAdmin })
        assert.deepStrictEqual([answer.status, answer.at("error.code")], [500, "INTERNAL_ERROR"])
      }))

    it.effect("come after the strict limit of a route, which no other route uses up", () =>
      Effect.gen(function*() {
        const check = api("POST", "/api/till/check", { as: asAdmin })
        const peek = api("POST", "/api/till/peek", { as: asAdmin })
        const answers = yield* Effect.all([check, check, check, peek])
        assert.deepStrictEqual(answers.map(({ status }) => status), [201, 201, 429, 201])
        assert.isAbove(Number(answers[2]?.headers.get("retry-after")), 0)
      }))
  }
)
