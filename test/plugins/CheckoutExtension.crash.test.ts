import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import type { FaultPoint } from "../../src/workflows/checkout/CheckoutWorkflow.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { audit } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { restart, startService, talkingTo } from "../support/Service.ts"

const program = fileURLToPath(new URL("../support/serveTill.ts", import.meta.url))

const calls = onDatabase((sql) =>
  Effect.map(sql`select distinct call from till_calls order by call`, (rows) => rows.map(({ call }) => call))
)
const isOver = onDatabase((sql) =>
  Effect.map(sql`select 1 from carts where status = 'checking_out'`, (rows) => rows.length === 0)
)

const deaths: ReadonlyArray<readonly [point: FaultPoint, paymentMethodId: string, last: string]> = [
  ["reserved", "test", "created"],
  ["created", "test", "created"],
  ["undone", "test_decline", "failed"],
  ["undone", "test_capture_fail", "failed"]
]

it.live.each(deaths)(
  "a checkout that dies at \"%s\" with \"%s\" goes on and its plugin learns that it was \"%s\"",
  ([faultPoint, paymentMethodId, last]) =>
    Effect.scoped(Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const options = { databaseUrl: url, program }
      const doomed = yield* startService({ ...options, faultPoint })
      const buying = Effect.gen(function*() {
        const cart = yield* aCartWith(yield* aProduct({}))
        return yield* checkOut(cart, { paymentMethodId, metadata: { till: "1" } })
      })
      assert.strictEqual((yield* Effect.provide(buying, talkingTo(doomed, url))).status, 0)
      const service = yield* restart(doomed, options)
      const found = yield* eventually(
        `the plugin to learn of "${last}"`,
        Effect.map(Effect.all([calls, isOver]), ([made, over]) => over && made.includes(last) ? made : undefined)
      ).pipe(Effect.provide(talkingTo(service, url)))
      assert.strictEqual(found.includes("failed"), last === "failed")
      yield* audit(url)
    }))
)
