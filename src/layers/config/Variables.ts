import { Config, Effect, Option, Result } from "effect"
import { InvalidSetting } from "./InvalidSetting.ts"

/** What runs: decides defaults, and what is refused because it is for developers only. */
export type Environment = "development" | "production" | "test"

/** Ends the start with one line that names the setting, what it holds and what it may hold. */
export const refuse = (name: string, value: string, allowed: string) =>
  Effect.fail(new InvalidSetting({ message: `${name}="${value}" is not allowed: expected ${allowed}.` }))

/** The same for a setting that is not there and has no default. */
export const missing = (name: string, wanted: string) =>
  Effect.fail(new InvalidSetting({ message: `${name} is missing: expected ${wanted}.` }))

/**
 * Fails with a line for each reader that fails, in place of the first one's: whoever mends settings wants to see at once
 * all that is wrong.
 */
export const allReadable = Effect.fnUntraced(
  function*<E extends { readonly message: string }>(readers: Readonly<Record<string, Effect.Effect<unknown, E>>>) {
    const results = yield* Effect.forEach(Object.values(readers), (reader) => Effect.result(reader))
    const lines = results.filter(Result.isFailure).flatMap(({ failure }) => failure.message.split("\n"))
    // What several settings are made of is said once.
    if (lines.length > 0) return yield* new InvalidSetting({ message: [...new Set(lines)].join("\n") })
    return undefined
  }
)

/** A variable of the environment. An empty one counts as absent, as shells and compose files write it. */
export const text = (name: string) =>
  Effect.map(
    Config.option(Config.String(name)),
    Option.filter((value) => value !== "")
  )

/** A variable that holds the number of a port. */
export const port = (name: string, fallback: number) =>
  Effect.flatMap(text(name), (found) => {
    if (Option.isNone(found)) return Effect.succeed(fallback)
    const value = Number(found.value)
    return Number.isInteger(value) && value >= 0 && value <= 65_535
      ? Effect.succeed(value)
      : refuse(name, found.value, "a port number from 0 to 65535 (0 picks a free one)")
  })

/** A variable that holds one of a few words. */
export const oneOf = <const A extends ReadonlyArray<string>>(name: string, allowed: A, fallback: A[number]) =>
  Effect.flatMap(text(name), (found) => {
    if (Option.isNone(found)) return Effect.succeed(fallback)
    const match = allowed.find((value): value is A[number] => value === found.value)
    return match === undefined ? refuse(name, found.value, allowed.join(", ")) : Effect.succeed(match)
  })

/** A variable that holds a time in milliseconds; undefined where it is absent. */
export const milliseconds = (name: string) =>
  Effect.flatMap(text(name), (found) => {
    if (Option.isNone(found)) return Effect.succeed(undefined)
    const value = Number(found.value)
    return Number.isInteger(value) && value >= 1 && value <= 2_147_483_647
      ? Effect.succeed(value)
      : refuse(name, found.value, "a whole number of milliseconds from 1")
  })
