import { Effect, Layer, Runtime } from "effect"
import { Draining, type Farewell } from "../http/server/RequestId.ts"
import { say } from "./EndOfProcess.ts"

/** A stopping process ends within 15 s; less, for slow machines. */
const longestMs = 13_000

/** Once a probe was answered, and without other requests for so long, proxies have noticed the end. */
const quietMs = 500

/** After the signal a service ends at this time even if requests come. */
const longestStayMs = 8_500

interface Service {
  readonly farewell: Farewell
  graceMs: number
}

let service: Service | undefined

export const farewellLayer = Layer.unwrap(Effect.sync(() => {
  const farewell: Farewell = { begun: false, heardAt: 0, looksReady: false, waitsFor: "" }
  service = { farewell, graceMs: 0 }
  return Layer.succeed(Draining, farewell)
}))

export const answersOn = (graceMs: number) =>
  Effect.sync(() => {
    if (service !== undefined) service.graceMs = graceMs
  })

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

const waitForProxies = ({ farewell, graceMs }: Service) => {
  const quiet = Effect.repeat(Effect.sleep("20 millis"), {
    until: () => !farewell.looksReady && performance.now() - farewell.heardAt >= quietMs
  })
  return graceMs === 0 ? Effect.void : Effect.delay(Effect.timeoutOption(quiet, longestStayMs - graceMs), graceMs)
}

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
 * Runs a command and ends the process with it, within 15 s of a signal. SIGTERM and SIGINT: a service fails its probes
 * at once, answers for its grace, then shuts down with exit code 0. A second signal ends the grace. Other commands were
 * cut off and exit with a code that says so.
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
    service.farewell.heardAt = performance.now()
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
