import { Effect, Layer, Runtime } from "effect"
import { Draining, type Farewell } from "../http/server/Draining.ts"
import { say } from "./EndOfProcess.ts"

/** A process that was told to stop ends within 15 s whatever it waits for: a little less, for slow machines. */
const longestMs = 13_000

/** What a service says and for how long it still answers once it was told to stop; other commands end at once. */
interface Service {
  readonly farewell: Farewell
  /**
   * So long proxies may still send what they have, until they have noticed that it is not ready any more. Nothing before
   * it was ready: a start that is told to stop goes no further.
   */
  graceMs: number
}

let service: Service | undefined

/** The end of this process as it goes on, for the layers of the service that it runs. */
export const farewellLayer = Layer.unwrap(Effect.sync(() => {
  const farewell: Farewell = { begun: false, waitsFor: "" }
  service = { farewell, graceMs: 0 }
  return Layer.succeed(Draining, farewell)
}))

/** The service is ready: from now on it has a grace when it is told to stop. */
export const answersOn = (graceMs: number) =>
  Effect.sync(() => {
    if (service !== undefined) service.graceMs = graceMs
  })

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

/** Exit codes of a command that a signal ended before it was done, as shells know them. */
const codes = { SIGINT: 130, SIGTERM: 143 }
type Reported = keyof typeof codes

const giveUp = (signal: Reported) =>
  Effect.sync(() => {
    if (service === undefined) {
      say(`stopped before it was done, and did not end within ${longestMs / 1_000} s`)
      return process.exit(codes[signal])
    }
    const { waitsFor } = service.farewell
    say(
      `gave up waiting${waitsFor === "" ? "" : ` for ${waitsFor}`} after ${longestMs / 1_000} s; ` +
        "what was not finished goes on in another process, or at the next start"
    )
    return process.exit(0)
  })

/**
 * Runs a command as this process, and ends the process with it. SIGTERM and SIGINT end it well: a service fails its probes
 * at once, answers for its grace, and then ends what it has begun. A second signal ends the grace. Whatever the command
 * waits for after that, and whatever it meets on its way, the process is gone within 15 s. A service's exit code is 0 then:
 * all that it had in hand is written down, and others take it over. Any other command was cut off, and its code says so.
 */
export const runMain = Runtime.makeRunMain(({ fiber, teardown }) => {
  let recorded: Reported | undefined
  const end = () => fiber.interruptUnsafe(fiber.id)
  const stop = (signal: Reported) => {
    if (recorded !== undefined) return end()
    recorded = signal
    Effect.runFork(Effect.delay(giveUp(signal), longestMs))
    if (service === undefined) return end()
    service.farewell.begun = true
    // Whoever presses Ctrl-C is no orchestrator with proxies.
    Effect.runFork(Effect.delay(Effect.sync(end), signal === "SIGTERM" ? service.graceMs : 0))
  }
  fiber.addObserver((exit) => {
    process.off("SIGINT", stop)
    process.off("SIGTERM", stop)
    teardown(exit, (code) => {
      if (recorded !== undefined) return process.exit(service === undefined ? codes[recorded] : 0)
      if (code !== 0) process.exit(code)
    })
  })
  process.on("SIGINT", stop)
  process.on("SIGTERM", stop)
})
