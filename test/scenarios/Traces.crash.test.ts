import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { otlpReceiver } from "../support/OtlpReceiver.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { addTo, aGuestCart, aProduct, checkOut } from "../support/Purchase.ts"
import { startService, talkingTo } from "../support/Service.ts"
import { persistently } from "../support/ServiceCalls.ts"
import { waitFor } from "../support/waitFor.ts"

const traceId = "f".repeat(32)
const headers = { traceparent: `00-${traceId}-${"b".repeat(16)}-01` }

it.live(
  "a checkout is one trace over the edge that was asked and the runner that carried it out",
  () =>
    Effect.gen(function*() {
      const receiver = yield* Effect.acquireRelease(
        Effect.promise(otlpReceiver),
        ({ close }) => Effect.promise(close)
      )
      const { url: databaseUrl } = yield* freshDatabase
      const environment = (name: string) => ({
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: receiver.url,
        OTEL_SERVICE_NAME: name
      })
      yield* startService({ databaseUrl, role: "runner", environment: environment("runner") })
      const edge = yield* startService({ databaseUrl, role: "api", environment: environment("edge") })
      yield* Effect.gen(function*() {
        const cart = yield* aGuestCart()
        const product = yield* aProduct()
        yield* addTo(cart, product).pipe(persistently)
        const order = yield* checkOut(cart, {}, { ...headers, "idempotency-key": "traced-once" }).pipe(persistently)
        assert.strictEqual(order.status, 201, JSON.stringify(order.body))
      }).pipe(Effect.provide(talkingTo(edge, databaseUrl)))
      const sent = (service: string, fits: string) =>
        receiver.spans.some((span) => span.traceId === traceId && span.service === service && span.json.includes(fits))
      yield* Effect.promise(() =>
        waitFor("both halves of the trace", async () =>
          sent("edge", "/api/checkout") && sent("runner", "StockEntity") || undefined)
      )
      // A span is sent when it ends, so the one above comes after those below it.
      const above = () => {
        const spans = receiver.spans.filter((span) =>
          span.traceId === traceId
        )
        const work = spans.find(({ service }) => service === "runner")
        return spans.find(({ spanId }) => spanId === work?.parentSpanId)
      }
      const found = yield* Effect.promise(() =>
        waitFor("the span that the runner's work hangs on", async () => above())
      )
      assert.strictEqual(found.traceId, traceId)
    })
)
