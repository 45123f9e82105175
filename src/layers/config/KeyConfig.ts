import { Effect, Option, Redacted } from "effect"
import { type Environment, refuse, text } from "./Variables.ts"

/** The key of the role admin that exists on developers' machines only; none: the one of the data directory. */
export const developmentKey = Effect.fnUntraced(function*(environment: Environment) {
  const found = yield* text("STOA_DEV_API_KEY")
  return Option.isSome(found) && environment === "production"
    ? yield* refuse(
      "STOA_DEV_API_KEY",
      "…",
      "no value when NODE_ENV is production: the development key does not exist there"
    )
    : Option.map(found, (key) => Redacted.make(key))
})

/** A key that can be guessed would tell strangers how much the store sells. */
const shortestKey = 16

/** The key that reads the metrics and nothing else. */
export const metricsKey = Effect.flatMap(
  text("STOA_METRICS_KEY"),
  Option.match({
    onNone: () => Effect.succeed(Option.none<Redacted.Redacted<string>>()),
    onSome: (key) =>
      key.length >= shortestKey
        ? Effect.succeed(Option.some(Redacted.make(key)))
        : refuse("STOA_METRICS_KEY", "…", `at least ${shortestKey} characters`)
  })
)
