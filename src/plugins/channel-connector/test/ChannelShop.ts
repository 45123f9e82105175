import { assert, inject } from "@effect/vitest"
import { createPluginTestApp, type PluginTestOptions } from "stoa/plugin/testing"
import { callsOf } from "../../../../test/support/PluginCalls.ts"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { type ChannelAdapter, channelConnector } from "../index.ts"
import { memoryStore, signedBy } from "./MemoryStore.ts"

export const publicUrl = "https://stoa.example"

/** A deployment that connects stores in memory, and more that a test gives. */
export const openShop = async (
  { adapters = [], ...options }: Parameters<typeof channelConnector>[0] & {
    readonly adapters?: ReadonlyArray<ChannelAdapter>
  } = {},
  config: PluginTestOptions = {}
) => {
  const memory = memoryStore()
  const app = await createPluginTestApp(
    channelConnector({ publicUrl, ...options, adapters: [memory.adapter, ...adapters] }),
    { postgres: inject("postgres"), rateLimits: { api: 1_000_000, strict: 1_000_000 }, ...config }
  )
  const calls = callsOf(app, "/channels")
  let stores = 0
  /** Waits until no job of these runs or could run now; one that waited for another of its key has a time, too. */
  const rested = (which: string, where: string, id: string) =>
    waitFor(`${which} rest`, async () => {
      const open = await app.db.query(
        `select 1 from commerce_jobs where (${where}) and (status = 'processing'
           or status = 'pending' and (wait_until is null or wait_until <= to_timestamp($1::float8 / 1000)))`,
        [app.clock.now(), id]
      )
      return open.length === 0
    })
  const shop = {
    ...calls,
    app,
    memory: memory.state,
    adapter: memory.adapter,
    store: (id: string) => calls.done("GET", `/stores/${id}`),
    /** Waits until the store is in a state; the jobs about it are done then, or wait. */
    until: async (id: string, status: string) => {
      await waitFor(`store ${id} is ${status}`, async () => (await shop.store(id)).at("data.status") === status)
      return shop.store(id)
    },
    /** Waits until no job about the store runs or could run now. */
    settled: (id: string) => rested(`the jobs of store ${id}`, "input->>'storeId' = $2", id),
    rested,
    /** Waits until a run of the store is over, and gives its report. */
    ran: (id: string, task: string) =>
      waitFor(`the ${task} of store ${id} is over`, async () => {
        const [row] = await app.db.query(
          "select phases, last_report from channel_runs where store_id = $1 and task = $2",
          [id, task]
        )
        return Array.isArray(row?.["phases"]) && row["phases"].length === 0 ? Object(row["last_report"]) : undefined
      }),
    /** What the jobs of a task about the store said at their last try. */
    jobs: (id: string, task: string) =>
      app.db.query(
        "select status, error, attempts from commerce_jobs where input->>'storeId' = $1 and task_slug = $2 order by created_at",
        [id, task]
      ),
    /** Ids of a product or variant of the store here. */
    thing: async (id: string, externalId: string) => {
      const [row] = await app.db.query(
        "select entity_id, variant_id from channel_entity_map where store_id = $1 and external_id = $2",
        [id, externalId]
      )
      return { entityId: String(row?.["entity_id"]), variantId: String(row?.["variant_id"]) }
    },
    /** The store sends a webhook about one of its records. */
    hint: async (id: string, topic: string, externalId: string) => {
      const body = JSON.stringify({ topic, id: externalId })
      const { headers } = signedBy("webhook-secret", body, crypto.randomUUID())
      const sent = { body, headers: { ...headers, "content-type": "application/json" } }
      assert.strictEqual((await app.app.request("POST", `/api/channels/webhooks/${id}`, sent)).status, 200)
    },
    connect: async (body: object = {}, settles = true) => {
      const made = await calls.done("POST", "/stores", {
        provider: "memory",
        storeDomain: `https://shop-${++stores}.example`,
        credentials: { key: "right-key-1" },
        webhookSecret: "webhook-secret",
        ...body
      })
      const id = made.text("data.id")
      if (settles) await shop.settled(id)
      return id
    },
    close: () => app.close()
  }
  return shop
}
export type ChannelShop = Awaited<ReturnType<typeof openShop>>
