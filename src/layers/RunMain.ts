import { Effect, Layer, Runtime } from "effect"
import { Draining, type Farewell } from "../http/server/RequestId.ts"
import { say } from "./EndOfProcess.ts"

/** A stopping process ends within 15 s: a little less, for slow machines. */
const longestMs = 13_000

/** A proxy has noticed the end when for so long no request but probes has come. */
const quietMs = 500

/** Time after the signal when a service ends although requests come. */
const longestStayMs = 8_500

/** How long a stopping service continues to answer; other commands end at once. */
interface Service {
  readonly farewell: Farewell
  /**
   * So long proxies may still send what they have, until they have noticed that it is not ready any more. Nothing before
   * it was ready: a start that is interrupted goes no further.
   */
  graceMs: number
}

let service: Service | undefined

/** The end of this process as it goes on, for the layers of the service that it runs. */
export const farewellLayer = Layer.unwrap(Effect.sync(() => {
  const farewell: Farewell = { begun: false, heardAt: 0, waitsFor: "" }
  service = { farewell, graceMs: 0 }
  return Layer.succeed(Draining, farewell)
}))

/** The service is ready: from now on it continues to answer for a time when it stops. */
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

/** Waits for the grace, and for proxies that have not noticed the end until then. */
const waitForProxies = ({ farewell, graceMs }: Service) => {
  const quiet = Effect.repeat(Effect.sleep("20 millis"), {
    until: () => performance.now() - farewell.heardAt >= quietMs
  })
  return graceMs === 0 ? Effect.void : Effect.delay(Effect.timeoutOption(quiet, longestStayMs - graceMs), graceMs)
}

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
 * at once, answers for its grace, and then ends what it has begun. A second signal ends the grace. The
 * process ends within 15 s in any case. A service's exit code is 0 then:
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
    // Ctrl-C comes from a terminal, where no proxies have to notice it.
    if (signal === "SIGINT") return end()
    Effect.runFork(Effect.andThen(waitForProxies(service), Effect.sync(end)))
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
