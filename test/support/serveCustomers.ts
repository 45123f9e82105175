import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer } from "effect"
import { announce, processApp } from "../../src/layers/App.ts"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import { appointments } from "../../src/plugins/appointments/index.ts"
import { type NotificationAdapter, notifications, NotSent } from "../../src/plugins/notifications/index.ts"
import { reviewsPlugin } from "../../src/plugins/reviews/index.ts"
import { scheduledOrders } from "../../src/plugins/scheduled-orders/index.ts"

/** Sends by the provider of the test at STOA_TEST_PROVIDER, which says 503 when it certainly sent nothing. */
const adapter = (providerId: string): NotificationAdapter => ({
  providerId,
  channel: "sms",
  send: ({ body, idempotencyKey, to }) =>
    Effect.gen(function*() {
      const { ok } = yield* Effect.tryPromise({
        try: (signal) =>
          fetch(`${process.env["STOA_TEST_PROVIDER"]}/${providerId}`, {
            method: "POST",
            headers: { "idempotency-key": idempotencyKey },
            body: JSON.stringify({ to, body }),
            signal
          }),
        catch: (error) => new NotSent({ outcome: "unknown", reason: String(error) })
      })
      return ok ? { messageId: idempotencyKey } : yield* new NotSent({ outcome: "unavailable", reason: "503" })
    })
})

/** The service with the plugins that deal with customers. */
const serve = Effect.gen(function*() {
  const settings = yield* readSettings({
    plugins: [
      appointments(),
      reviewsPlugin(),
      scheduledOrders({ holdGoods: "scheduling", maxHeldUnits: 100_000 }),
      notifications({ adapters: [adapter("main"), adapter("other")] })
    ],
    email: { send: async () => undefined }
  })
  return yield* Layer.launch(Layer.effectDiscard(announce).pipe(Layer.provideMerge(processApp(settings))))
})

NodeRuntime.runMain(serve)
