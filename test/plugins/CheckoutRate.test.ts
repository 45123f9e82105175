import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { appointments } from "../../src/plugins/appointments/index.ts"
import { scheduledOrders } from "../../src/plugins/scheduled-orders/index.ts"
import { lastingRates } from "../support/LastingRates.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"

const asked = [
  "appointments/bookings",
  "scheduled-orders",
  "scheduled-orders/0190c0de-0000-7000-8000-000000000001/retry"
]

layer(
  testAppLayer({ plugins: [appointments(), scheduledOrders()] }, { rateLimits: lastingRates({ checkout: 2 }) }),
  live
)(
  "routes of plugins that ask a payment provider",
  (it) => {
    it.effect("count as checkouts of their caller, so that no one tries cards with them", () =>
      Effect.forEach(asked, (path) =>
        Effect.gen(function*() {
          const as = { ...asAdmin, userId: `user-of-${path.replaceAll("/", "-")}` }
          const send = Effect.map(api("POST", `/api/${path}`, { as, body: {} }), ({ status }) => status)
          const [first, second, third] = [yield* send, yield* send, yield* send]
          assert.notStrictEqual(first, 429)
          assert.notStrictEqual(second, 429)
          assert.strictEqual(third, 429, path)
        })))
  }
)
