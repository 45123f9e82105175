import { Effect, type Scope } from "effect"
import { spawn } from "node:child_process"
import { setTimeout as pause } from "node:timers/promises"
import type { Service } from "./Service.ts"

/** So many processes that take all of a processor that they are given; they end with the scope. */
export const busyLoops = (count: number): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.sync(() =>
        Array.from({ length: count }, () => spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }))
      ),
      (loops) =>
        Effect.sync(() => {
          for (const loop of loops) loop.kill("SIGKILL")
        })
    )
  )

/** As on a machine that gives a process nothing for three seconds: one after the other stands still, again and again. */
export const standingStill = (services: ReadonlyArray<Service>): Effect.Effect<never> =>
  Effect.forEach(services, (service) =>
    Effect.promise(async () => {
      service.kill("SIGSTOP")
      await pause(3_000)
      service.kill("SIGCONT")
      await pause(7_000)
    }).pipe(Effect.ensuring(Effect.sync(() => service.kill("SIGCONT"))))).pipe(Effect.forever)
