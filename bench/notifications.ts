import { Effect } from "effect"
import { createPluginTestApp } from "../src/plugins/kit/testing/StoaTesting.ts"
import { type NotificationAdapter, notifications } from "../src/plugins/notifications/index.ts"
import { environment } from "./measure/Environment.ts"
import { atLeast, exactly, heading, note, record, table } from "./measure/Report.ts"
import type { Options } from "./Options.ts"
import { startBenchPostgres } from "./servers/BenchPostgres.ts"

/** Drains messages that are due into an adapter in this process, which answers at once. */
export const runNotifications = async (options: Options): Promise<void> => {
  const count = options.flows ?? 100_000
  heading(`notifications: ${count} due messages into a local adapter`)
  const postgres = await startBenchPostgres()
  table(["environment", ""], Object.entries(await environment(postgres.admin)))
  const sent = new Set<string>()
  const adapter: NotificationAdapter = {
    providerId: "local",
    channel: "sms",
    send: ({ idempotencyKey }) =>
      Effect.sync(() => {
        sent.add(idempotencyKey)
        return { messageId: idempotencyKey }
      })
  }
  const app = await createPluginTestApp(notifications({ adapters: [adapter] }), {
    postgres: { url: await postgres.create("notifications") }
  })
  const waiting = async () => {
    const [row] = await app.db.query("select exists (select from notification_log where status = 'queued') as more")
    return row?.["more"] === true
  }
  try {
    await app.db.query(
      `insert into notification_log (id, organization_id, channel, event, recipient, body, next_at, group_id)
       select i.id, 'org_default', 'sms', 'bench', '+1' || i.n, repeat('x', 160), now() - interval '1 hour', i.id
       from (select gen_random_uuid() as id, n from generate_series(1, $1::int) n) i`,
      [count]
    )
    await app.db.query("vacuum analyze notification_log")
    const began = performance.now()
    await app.serviceRegistry.enqueue("notifications/send", {})
    while (await waiting()) await new Promise((resolve) => setTimeout(resolve, 50))
    const seconds = (performance.now() - began) / 1_000
    note(`${count} messages in ${seconds.toFixed(1)} s`)
    record("notifications", { count, seconds })
    exactly("messages sent, each once", sent.size, count)
    atLeast("messages per second", count / seconds, 2_000)
  } finally {
    await app.close()
    await postgres.stop()
  }
}
