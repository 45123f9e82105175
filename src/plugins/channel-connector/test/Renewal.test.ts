import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Layer, Logger, Schema } from "effect"
import { PluginContext } from "stoa/plugin"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { Channels, ChannelSettings } from "../ChannelOptions.ts"
import { ChannelUnavailable, CredentialsRefused } from "../index.ts"
import { StoreSessions } from "../StoreSessions.ts"
import { type ChannelShop, openShop } from "./ChannelShop.ts"
import { memoryStore } from "./MemoryStore.ts"

const renewedUntil = "2100-01-01T00:00:00.000Z"

describe("credentials that end", () => {
  const { adapter, state } = memoryStore()
  let shop: ChannelShop
  let sessions: StoreSessions["Service"]
  let stores = 0
  beforeAll(async () => {
    shop = await openShop({}, { jobs: { autorun: { enabled: false } } })
    const settings = { ...Schema.decodeSync(ChannelSettings)({}), adapters: [adapter] }
    const layer = StoreSessions.layer.pipe(
      Layer.provide(Channels.layerOf(settings)),
      Layer.provide(Layer.succeed(PluginContext, shop.app.context))
    )
    sessions = Context.get(await Effect.runPromise(Effect.scoped(Layer.build(layer))), StoreSessions)
  })
  afterAll(() => shop.close())

  const logged: Array<string> = []
  const logger = Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))])

  /** A store whose key ends in so many minutes. */
  const ending = async (minutes: number) => {
    Object.assign(state, { renewed: 0, failure: undefined, beforeRenewal: Effect.void })
    const made = await shop.done("POST", "/stores", {
      provider: "memory",
      storeDomain: `https://renewed-${++stores}.example`,
      credentials: { key: "right-key-1", expiresAt: new Date(Date.now() + minutes * 60_000).toISOString() }
    })
    return made.text("data.id")
  }
  /** Uses the store, and notes how it ends. */
  const use = async (id: string, outcomes: Array<string> = []) => {
    const used = Effect.result(sessions.use(shop.app.tables, id, ({ channel }) => channel.verify))
    const result = await shop.app.serviceRegistry.run(Effect.provide(used, logger))
    outcomes.push(result._tag === "Success" ? "used" : result.failure._tag)
    return outcomes
  }
  const row = async (id: string) => (await shop.store(id)).at("data")

  it("are renewed in the last five minutes, and not earlier", async () => {
    await use(await ending(6))
    assert.strictEqual(state.renewed, 0)
    const id = await ending(4)
    assert.deepStrictEqual(await use(id), ["used"])
    assert.deepInclude(await row(id), { status: "connected", credentialsExpireAt: renewedUntil })
    await use(id)
    assert.strictEqual(state.renewed, 1)
  })

  it("are renewed by one of eight at once: others go on with those that hold, or wait without them", async () => {
    for (const [minutes, outcome] of [[4, "used"], [-1, "ChannelUnavailable"]] as const) {
      const id = await ending(minutes)
      const go = Deferred.makeUnsafe<void>()
      state.beforeRenewal = Deferred.await(go)
      const outcomes: Array<string> = []
      const all = Array.from({ length: 8 }, () => use(id, outcomes))
      await waitFor("the renewal has begun, and the others do not wait for it", () => outcomes.length === 7)
      assert.deepStrictEqual(outcomes, Array(7).fill(outcome))
      // The row is free while the store is called.
      assert.strictEqual((await shop.done("PATCH", `/stores/${id}`, { buffer: 3 })).at("data.buffer"), 3)
      await Effect.runPromise(Deferred.succeed(go, undefined))
      await Promise.all(all)
      assert.deepStrictEqual([outcomes.at(-1), state.renewed], ["used", 1])
    }
  })

  it("are renewed by another process when the first one died", async () => {
    const id = await ending(-1)
    await shop.app.db.query("update connected_stores set renewal_until = now() + interval '50 seconds' where id = $1", [
      id
    ])
    assert.deepStrictEqual(await use(id), ["ChannelUnavailable"])
    await shop.app.db.query("update connected_stores set renewal_until = now() - interval '1 second' where id = $1", [
      id
    ])
    assert.deepStrictEqual(await use(id), ["used"])
  })

  it("that were replaced during a renewal stay", async () => {
    const id = await ending(-1)
    const go = Deferred.makeUnsafe<void>()
    state.beforeRenewal = Deferred.await(go)
    const used = use(id)
    await waitFor("the renewal has begun", () => state.renewed === 1)
    await shop.done("PUT", `/stores/${id}/credentials`, { credentials: { key: "right-key-1" } })
    await Effect.runPromise(Deferred.succeed(go, undefined))
    assert.deepStrictEqual(await used, ["used"])
    assert.deepInclude(await row(id), { credentialsExpireAt: null })
  })

  it("put the store into error when they are refused, and not when the store does not answer", async () => {
    const waits = await ending(4)
    state.beforeRenewal = Effect.sync(() => void (state.failure = new ChannelUnavailable({ message: "Busy." })))
    const verified = sessions.use(shop.app.tables, waits, () => Effect.void)
    await shop.app.serviceRegistry.run(verified)
    assert.deepInclude(await row(waits), { status: "connected", lastError: null })
    const id = await ending(-1)
    state.failure = new CredentialsRefused({ message: "The key right-key-1 was withdrawn." })
    assert.deepStrictEqual(await use(id), ["CredentialsRefused"])
    assert.deepInclude(await row(id), { status: "error", lastError: "The key [REDACTED] was withdrawn." })
    assert.deepStrictEqual(logged, [`The connected store ${id} is in error: The key [REDACTED] was withdrawn.`])
  })
})
