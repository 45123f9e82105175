import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { isRunning, launched, launchInChild, stoppedCluster } from "../postgres/Launcher.ts"
import { eventually } from "../support/Eventually.ts"
import { buyBesideFrozen, frozenMoments } from "../support/FrozenCheckout.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { type Service, startService } from "../support/Service.ts"
import { callOf } from "../support/ServiceCalls.ts"
import { stallingWay } from "../support/StallingWay.ts"
import { waitFor } from "../support/waitFor.ts"

const assertWithin = (bar: number, began: number, what: string) => {
  const took = performance.now() - began
  console.log(`${what}: ${Math.round(took)} ms`)
  assert.isAtMost(took, bar, what)
}

const readyWith = (service: Service, status: number) =>
  eventually(
    `readiness ${status}`,
    Effect.map(callOf(service.url)("GET", "/api/ready"), (answer) => answer.status === status)
  )

it.live("the shards of a killed runner have another owner within ten seconds", () =>
  Effect.gen(function*() {
    const { url: databaseUrl } = yield* freshDatabase
    const edge = yield* startService({ databaseUrl, role: "api" })
    const runner = yield* startService({ databaseUrl, role: "runner" })
    yield* readyWith(edge, 200)
    const killed = performance.now()
    runner.kill("SIGKILL")
    yield* readyWith(edge, 503)
    yield* startService({ databaseUrl, role: "runner" })
    yield* readyWith(edge, 200)
    assertWithin(10_000, killed, "the takeover")
  }))

it.live.each(frozenMoments)(
  "a process that freezes when it %s delays no checkout for ten seconds",
  ([what, fragment]) => {
    let frozen = 0
    return buyBesideFrozen(fragment, (moment) => {
      if (moment === "frozen") frozen = performance.now()
      else assertWithin(10_000, frozen, `beside a process frozen when it ${what}`)
    })
  }
)

it.live("a process ends within 15 s of SIGTERM while its database is silent", () =>
  Effect.gen(function*() {
    const { url } = yield* freshDatabase
    const way = yield* stallingWay(url)
    const service = yield* startService({ databaseUrl: way.url })
    yield* Effect.forkChild(way.stall(60_000))
    const began = performance.now()
    service.kill("SIGTERM")
    yield* Effect.promise(() => service.ended)
    assertWithin(15_000, began, "the end of the process")
  }))

it("the embedded PostgreSQL ends within 2.5 s of its killed parent", async () => {
  const child = launchInChild({ dir: await stoppedCluster(), settings: { fsync: "off" } })
  const server = await launched(child)
  const killed = performance.now()
  child.kill("SIGKILL")
  await waitFor("the end of the server", async () => !await isRunning(server.pid))
  assertWithin(2_500, killed, "the end of the server")
})
