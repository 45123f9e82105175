import { Clock, Duration, Effect } from "effect"

/** Runs work on a clock that notes every wait in milliseconds, and cuts those that `isCut` names. */
export const notedWaits = (isCut: (milliseconds: number) => boolean) => {
  const waits: Array<number> = []
  const noting = <A, E, R>(work: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Clock.Clock, (clock) => {
      const noted: Clock.Clock = Object.assign(Object.create(clock), {
        sleep: (duration: Duration.Duration) => {
          const milliseconds = Duration.toMillis(duration)
          waits.push(milliseconds)
          return isCut(milliseconds) ? Effect.void : clock.sleep(duration)
        }
      })
      return Effect.provideService(work, Clock.Clock, noted)
    })
  return { noting, waits }
}
