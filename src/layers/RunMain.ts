import { Effect, Layer, Runtime } from "effect"
import { Draining, type Farewell } from "../domain/health/Draining.ts"
import { say } from "./EndOfProcess.ts"

/** A process that was told to stop ends within 15 s whatever it waits for: a little less, for slow machines. */
const longestMs = 13_000

/** What a service says and for how long it still answers once it was told to stop; other commands end at once. */
interface Service {
  readonly farewell: Farewell
  /** So long proxies may still send what they have, until they have noticed that it is not ready any more. */
  readonly graceMs: number
}

let service: Service | undefined

/** The end of this process as it goes on, for the layers of the service that it runs. */
export const farewellLayer = (graceMs: number) =>
  Layer.unwrap(Effect.sync(() => {
    const farewell: Farewell = { begun: false, waitsFor: "" }
    service = { farewell, graceMs }
    return Layer.succeed(Draining, farewell)
  }))

/** Says that the end of the process has come to what lies below this layer. */
export const waitingFor = (what: string) =>
  Layer.effectDiscard(
    Effect.gen(function*() {
      const farewell = yield* Draining
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          farewell.waitsFor = what
        })
      )
    })
  )

const giveUp = Effect.sync(() => {
  const waited = service?.farewell.waitsFor ?? ""
  say(
    `gave up waiting${waited === "" ? "" : ` for ${waited}`} after ${longestMs / 1_000} s; ` +
      "what was not finished goes on in another process, or at the next start"
  )
  process.exit(0)
})

/**
 * Runs a command as this process, and ends the process with it. SIGTERM and SIGINT end it well: a service fails its probes
 * at once, answers for its grace, and then ends what it has begun. A second signal ends the grace. Whatever the command
 * waits for after that, and whatever it meets on its way, the process is gone within 15 s with exit code 0: all that it had in
 * hand is written down, and others take it over.
 */
export const runMain = Runtime.makeRunMain(({ fiber, teardown }) => {
  let told = false
  const end = () => fiber.interruptUnsafe(fiber.id)
  const stop = (signal: NodeJS.Signals) => {
    if (told) return end()
    told = true
    Effect.runFork(Effect.delay(giveUp, longestMs))
    if (service === undefined) return end()
    service.farewell.begun = true
    // Whoever presses Ctrl-C is no orchestrator with proxies.
    Effect.runFork(Effect.delay(Effect.sync(end), signal === "SIGTERM" ? service.graceMs : 0))
  }
  fiber.addObserver((exit) => {
    process.off("SIGINT", stop)
    process.off("SIGTERM", stop)
    teardown(exit, (code) => {
      if (told || code !== 0) process.exit(told && service !== undefined ? 0 : code)
    })
  })
  process.on("SIGINT", stop)
  process.on("SIGTERM", stop)
})
