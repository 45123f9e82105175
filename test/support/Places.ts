import { DateTime, Effect, Fiber } from "effect"
import { restart, type Service, type ServiceOptions, startService } from "./Service.ts"

/**
 * A place in the deployment: a process is killed, `dead` does what is to be done then, and another one starts in its
 * stead, on the same ports. The moment that `dead` is given is that of the signal: when the process is known to have ended
 * others may have taken its work over.
 */
export const placeOf = Effect.fnUntraced(
  function*(options: ServiceOptions, dead: (service: Service, at: Date) => Effect.Effect<void> = () => Effect.void) {
    let service: Service = yield* startService(options)
    let successor: Fiber.Fiber<void> | undefined
    const kill = Effect.gen(function*() {
      const at = yield* DateTime.nowAsDate
      service.kill("SIGKILL")
      yield* Effect.promise(() => service.ended)
      yield* dead(service, at)
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
