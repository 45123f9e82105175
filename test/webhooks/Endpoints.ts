import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/ids/Id.ts"
import type { DeploymentConfig } from "../../src/layers/config/DeploymentConfig.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { api, asAdmin, at, testAppLayer } from "../support/TestApp.ts"

export const webhooks = "/api/webhooks"

/** A secret of Standard Webhooks over so many bytes. */
export const aSecret = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString("base64")}`

/** Registers a destination and gives its answer. */
export const register = (body: object, as: typeof asAdmin = asAdmin) => api("POST", webhooks, { as, body })

/** Registers what must be accepted; its id and its secret. */
export const anEndpoint = Effect.fnUntraced(function*(
  url: string,
  events: ReadonlyArray<string> = ["*"],
  body: object = {},
  as: typeof asAdmin = asAdmin
) {
  const made = yield* register({ url, events, ...body }, as)
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  return { id: made.text("data.id"), secret: made.text("data.secret") }
})

/** Runs due deliveries, as a cron does, until a state is reached. */
export const delivering = <A, R>(description: string, ask: Effect.Effect<A, never, R>, timeoutMs = 20_000) =>
  eventually(
    description,
    Effect.andThen(api("POST", "/api/jobs/run?queue=webhooks&limit=100"), ask),
    timeoutMs
  )

/** The log of an endpoint's deliveries, the newest first. */
export const logOf = Effect.fnUntraced(function*(endpointId: string, as: typeof asAdmin = asAdmin) {
  const log = yield* api("GET", `${webhooks}/${endpointId}/deliveries?limit=100`, { as })
  return log.list("data")
})

/** The rows of one event in the log of an endpoint. */
export const logOfEvent = (endpointId: string, webhookId: unknown, as: typeof asAdmin = asAdmin) =>
  Effect.map(logOf(endpointId, as), (rows) => rows.filter((row) => at(row, "webhookId") === webhookId))

/** Makes a catalog entity, which announces `catalog.create`; its id and slug. */
export const anEvent = Effect.fnUntraced(function*(as: typeof asAdmin = asAdmin) {
  const slug = newId()
  const made = yield* api("POST", "/api/catalog/entities", { as, body: { type: "product", slug } })
  return { id: made.text("data.id"), slug, record: made.at("data") }
})

/** Makes the next try of every waiting delivery due at once: the queue's record has its time in `wait_until` (spec §2). */
export const makeDue = onDatabase((sql) =>
  sql`update commerce_jobs set wait_until = now() where queue = 'webhooks' and status = 'pending'
    and wait_until is not null`
)

/** Like `delivering`, and tries again at once what waits for another try. */
export const retrying = <A, R>(description: string, ask: Effect.Effect<A, never, R>, timeoutMs = 20_000) =>
  delivering(description, Effect.andThen(makeDue, ask), timeoutMs)

/** A deployment whose deliveries may go to loopback, and whose jobs run when the test says so. */
export const toLoopback = (webhooks: DeploymentConfig["webhooks"] = {}) =>
  layer(
    testAppLayer({ webhooks: { allowPrivateTargets: true, ...webhooks }, jobs: { autorun: { enabled: false } } }),
    { excludeTestServices: true, timeout: "60 seconds" }
  )
