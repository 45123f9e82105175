import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { WebhookDeliveryRepo } from "../../src/domain/webhooks/WebhookRepo.ts"
import { Webhooks } from "../../src/domain/webhooks/Webhooks.ts"
import { runPending } from "./JobsDouble.ts"
import { anEvent, relay, webhookWorld } from "./WebhookWorld.ts"

const left = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql<{ deliveries: number; messages: number }>`select (select count(*)::int4 from webhook_deliveries) as deliveries,
      (select count(*)::int4 from webhook_messages) as messages`,
    ([row]) => [row?.deliveries, row?.messages]
  ))

it.layer(webhookWorld(), { excludeTestServices: true })("what was delivered", (it) => {
  it.effect("the purge deletes old attempts and messages by batches, also of deleted endpoints, and keeps recent ones", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { purge } = yield* WebhookDeliveryRepo
      const webhooks = yield* Webhooks
      const { id } = yield* webhooks.register({ url: "http://127.0.0.1:9/", events: ["*"] })
      yield* relay([anEvent(), anEvent(), anEvent()])
      yield* runPending
      yield* webhooks.remove(id)
      assert.strictEqual(yield* purge(30, 2), 0)
      yield* sql`update webhook_deliveries set created_at = now() - interval '31 days'`
      yield* sql`update webhook_messages set created_at = now() - interval '31 days'`
      yield* webhooks.register({ url: "http://127.0.0.1:9/", events: ["*"] })
      yield* relay([anEvent()])
      yield* runPending
      assert.deepStrictEqual(yield* left, [4, 4])
      assert.strictEqual(yield* purge(30, 2), 2)
      assert.strictEqual(yield* purge(30, 2), 1)
      assert.strictEqual(yield* purge(30, 2), 0)
      assert.deepStrictEqual(yield* left, [1, 1])
    }))
})
