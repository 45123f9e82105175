import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Agent, request } from "node:http"
import { poolingProxy } from "../support/PoolingProxy.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { type Service, startService } from "../support/Service.ts"
import { waitFor } from "../support/waitFor.ts"

/** A request, and whether its connection has been made and its answer has come in full. */
interface Sent {
  connected: boolean
  outcome: string | undefined
}

const send = ({ url }: Service, agent: Agent | false): Sent => {
  const sent: Sent = { connected: false, outcome: undefined }
  const asked = request(`${url}/health/live`, { agent }, (answer) => {
    answer.resume().on("close", () => {
      sent.outcome = answer.complete ? String(answer.statusCode) : "cut off"
    })
  })
  asked.on("socket", (socket) => {
    sent.connected = !socket.connecting
    socket.once("connect", () => {
      sent.connected = true
    })
  })
  asked.on("error", (error) => {
    sent.outcome = String(error)
  })
  asked.end()
  return sent
}

const all = (name: string, sent: ReadonlyArray<Sent>, isSo: (one: Sent) => boolean) =>
  Effect.promise(() => waitFor(name, () => sent.every(isSo)))

it.live(
  "a process that is stopped answers what waits to be accepted and what comes on kept connections",
  () =>
    Effect.gen(function*() {
      const { url: databaseUrl } = yield* freshDatabase
      const service = yield* startService({ databaseUrl, role: "api" })
      const agent = yield* Effect.acquireRelease(
        Effect.sync(() => new Agent({ keepAlive: true })),
        (open) => Effect.sync(() => open.destroy())
      )
      const kept = Array.from({ length: 10 }, () => send(service, agent))
      yield* all("answers on connections that are kept", kept, ({ outcome }) => outcome !== undefined)
      // What is sent now is with the system and not with the process when the signal comes.
      service.kill("SIGSTOP")
      const sent = Array.from({ length: 100 }, (_, n) => send(service, n < 10 ? agent : false))
      yield* all("the connections", sent, ({ connected }) => connected)
      service.kill("SIGTERM")
      service.kill("SIGCONT")
      yield* all("the answers", sent, ({ outcome }) => outcome !== undefined)
      assert.deepStrictEqual(sent.filter(({ outcome }) => outcome !== "200"), [])
      assert.deepStrictEqual(yield* Effect.promise(() => service.ended), { code: 0, signal: null })
    }),
  60_000
)

it.live(
  "a process whose proxy has not yet learned that it stops stays, even without requests",
  () =>
    Effect.gen(function*() {
      const { url: databaseUrl } = yield* freshDatabase
      const options = { databaseUrl, role: "api", environment: { STOA_SHUTDOWN_GRACE_MS: "100" } } as const
      const [probed, other] = yield* Effect.all([startService(options), startService(options)])
      const probe = ({ url }: Service) => Effect.promise(async () => (await fetch(`${url}/api/health`)).status)
      for (const service of [probed, other]) assert.strictEqual(yield* probe(service), 200)
      for (const service of [probed, other]) service.kill("SIGTERM")
      yield* Effect.repeat(probe(probed), { until: (status) => status === 503 })
      yield* Effect.promise(() => probed.ended)
      assert.strictEqual(yield* probe(other), 503)
      assert.deepStrictEqual(yield* Effect.promise(() => other.ended), { code: 0, signal: null })
    }),
  60_000
)

it.live(
  "processes lose no request of a proxy that notices their end later than their grace, also on new connections",
  () =>
    Effect.gen(function*() {
      const { url: databaseUrl } = yield* freshDatabase
      const options = { databaseUrl, role: "api", environment: { STOA_SHUTDOWN_GRACE_MS: "100" } } as const
      const services = yield* Effect.all([startService(options), startService(options), startService(options)])
      const proxy = yield* poolingProxy(services, { probeEveryMs: 1_500, keeps: (turn) => turn % 2 === 0 })
      let closing = false
      const client = Effect.promise(async () => {
        const answer = await fetch(`${proxy.url}/api/catalog/entities`)
        await answer.arrayBuffer()
      }).pipe(Effect.repeat({ until: () => closing }))
      const crowd = yield* Effect.forkChild(Effect.replicateEffect(client, 8, { concurrency: "unbounded" }))
      for (const old of services.slice(1)) {
        const before = proxy.sent().requests
        yield* Effect.promise(() => waitFor("requests", () => proxy.sent().requests > before + 50))
        old.kill("SIGTERM")
        assert.deepStrictEqual(yield* Effect.promise(() => old.ended), { code: 0, signal: null })
      }
      closing = true
      yield* Fiber.join(crowd)
      assert.deepStrictEqual(proxy.failures, [], `of ${proxy.sent().requests} requests`)
    }),
  120_000
)
