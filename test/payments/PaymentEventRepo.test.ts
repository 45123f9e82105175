import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { PaymentEventRepo } from "../../src/domain/payments/PaymentEventRepo.ts"
import { CurrentActor } from "../../src/domain/platform/access/Actor.ts"
import { Conflict } from "../../src/domain/platform/errors/ApiErrors.ts"
import { newId, type OrderId } from "../../src/domain/platform/ids/Id.ts"
import { manager } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"

const order = { orderId: newId<OrderId>(), amount: null }
const event = (eventId: string) => ({ provider: "test", eventId, type: "payment_intent.succeeded", ...order })
const asManager = Effect.provideService(CurrentActor, manager())

describe("PaymentEventRepo", () => {
  it.layer(PaymentEventRepo.layer.pipe(Layer.provideMerge(TestDatabase)))((it) => {
    it.effect("rolls the event back with everything its work wrote when the work fails", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { once } = yield* PaymentEventRepo
        const failing = Effect.gen(function*() {
          yield* Effect.orDie(
            sql`insert into order_counters (organization_id, year, last_number) values ('org_x', 1, 1)`
          )
          return yield* Conflict.of("lost")
        })
        assert.strictEqual((yield* Effect.flip(asManager(once(event("e2"), failing))))._tag, "Conflict")
        assert.strictEqual((yield* sql`select 1 from order_counters where organization_id = 'org_x'`).length, 0)
        assert.strictEqual(yield* asManager(once(event("e2"), Effect.succeed("done"))), "done")
      }))

    it.effect("purges events only after their time", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { once, purge } = yield* PaymentEventRepo
        yield* asManager(once(event("old"), Effect.void))
        yield* sql`update payment_events set received_at = now() - interval '91 days' where event_id = 'old'`
        assert.strictEqual(yield* purge(90), 1)
        assert.strictEqual(yield* purge(90), 0)
      }))
  })
})
