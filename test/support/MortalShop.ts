import { assert } from "@effect/vitest"
import { Context, Effect, Layer, Scope } from "effect"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { FaultPoint } from "../../src/workflows/checkout/CheckoutWorkflow.ts"
import { emulatedService, type PaymentEmulator, startEmulator } from "./PaymentEmulator.ts"
import { freshDatabase } from "./Postgres.ts"
import { placeOf, type ServiceOptions, talkingTo } from "./Service.ts"
import type { TestApp } from "./TestApp.ts"

/**
 * A shop whose process dies at the boundary that `dyingAt` names, and then starts again: one database for all the deaths, so
 * that what takes up the work of a dead process is also the next one to die.
 */
export class MortalShop extends Context.Service<MortalShop, {
  readonly databaseUrl: string
  readonly emulator: PaymentEmulator
  readonly app: () => Layer.Layer<TestApp>
  /** Does something that the process dies of at this boundary; afterwards another one is in its place. */
  readonly dyingAt: <A>(point: FaultPoint, work: Effect.Effect<A, never, TestApp>) => Effect.Effect<A>
}>()("stoa/test/support/MortalShop") {
  /** Runs this program of the tests, by default the service with the emulator alone. */
  static readonly layer = (chosen: Pick<ServiceOptions, "program"> = {}) =>
    Layer.effect(
      MortalShop,
      Effect.gen(function*() {
        const { url: databaseUrl } = yield* freshDatabase
        const emulator = yield* startEmulator
        const directory = yield* Effect.acquireRelease(
          Effect.promise(() => mkdtemp(join(tmpdir(), "stoa-mortal-"))),
          (made) => Effect.promise(() => rm(made, { recursive: true }))
        )
        const file = join(directory, "fault-point")
        const name = (point: FaultPoint | "none") => Effect.promise(() => writeFile(file, point))
        yield* name("none")
        const { environment, program } = emulatedService(emulator)
        // Limits off: what a process was granted ahead dies with it, and ten deaths in a minute would use up all there is.
        const own = { STOA_TEST_FAULT_FILE: file, STOA_RATE_LIMIT_FACTOR: "0" }
        const place = yield* placeOf({ databaseUrl, program, ...chosen, environment: { ...environment, ...own } })
        const scope = yield* Effect.scope
        const app = () => talkingTo(place.service(), databaseUrl)
        const dyingAt = <A>(point: FaultPoint, work: Effect.Effect<A, never, TestApp>) =>
          Effect.gen(function*() {
            yield* name(point)
            const recorded = yield* Effect.provide(work, app())
            assert.strictEqual((yield* Effect.promise(() => place.service().ended)).signal, "SIGKILL")
            yield* name("none")
            yield* Effect.provideService(place.replace, Scope.Scope, scope)
            return recorded
          })
        return { databaseUrl, emulator, app, dyingAt }
      })
    )
}
