import { Duration, Effect, Layer, Option, Schedule } from "effect"
import { Entity, Sharding } from "effect/cluster"

const first = 500
const growth = 1.5
const longest = 10_000

/** Milliseconds of life that reset an actor's delay. */
const forgottenAfter = 60_000

interface Deaths {
  readonly times: number
  readonly last: number
}

/**
 * Delays an actor's restart: half a second, growing to ten, per actor. The sharding has one schedule per type, which
 * never resets: after ten deaths every later one would wait ten seconds.
 */
export const restartDelays: Schedule.Schedule<Duration.Duration> = Schedule.fromStep(Effect.sync(() => {
  const deaths = new Map<string, Deaths>()

  const forget = (now: number) => {
    for (const [actor, { last }] of deaths) {
      if (now - last <= forgottenAfter) return
      deaths.delete(actor)
    }
  }

  const next = (actor: string, now: number): Duration.Duration => {
    forget(now)
    const times = deaths.get(actor)?.times ?? 0
    deaths.delete(actor)
    deaths.set(actor, { times: times + 1, last: now })
    return Duration.millis(Math.min(first * growth ** times, longest))
  }

  return (now: number) =>
    Effect.map(Effect.serviceOption(Entity.CurrentAddress), (address) => {
      const delay = next(
        Option.match(address, { onNone: () => "", onSome: (one) => `${one.entityType}/${one.entityId}` }),
        now
      )
      return [delay, delay]
    })
}))

export const withRestartDelays: Layer.Layer<Sharding.Sharding, never, Sharding.Sharding> = Layer.effect(
  Sharding.Sharding,
  Effect.map(Sharding.Sharding, (sharding) =>
    Sharding.Sharding.of({
      ...sharding,
      registerEntity: (entity, build, options) =>
        sharding.registerEntity(entity, build, { defectRetryPolicy: restartDelays, ...options })
    }))
)
