import { Effect, Fiber } from "effect"
import { restart, type Service, type ServiceOptions, startService } from "./Service.ts"

/**
 * A place in the deployment: a process is killed, `dead` does what is to be done then, and another one starts in its
 * stead, on the same ports.
 */
export const placeOf = Effect.fnUntraced(
  function*(options: ServiceOptions, dead: (pid: number) => Effect.Effect<void> = () => Effect.void) {
    let service: Service = yield* startService(options)
    let successor: Fiber.Fiber<void> | undefined
    const kill = Effect.gen(function*() {
      service.kill("SIGKILL")
      yield* Effect.promise(() => service.ended)
      yield* dead(service.pid)
    })
    const replace = Effect.suspend(() =>
      Effect.map(restart(service, options), (next) => {
        service = next
      })
    )
    return {
      service: () => service,
      kill,
      replace,
      /** Kills it as soon as it is ready, and does not wait for the next one to be. */
      strike: Effect.gen(function*() {
        if (successor !== undefined) yield* Fiber.join(successor)
        yield* kill
        successor = yield* Effect.forkScoped(replace)
      })
    }
  }
)
