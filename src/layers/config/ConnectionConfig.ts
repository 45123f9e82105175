import { Effect, Option, Redacted } from "effect"
import { proxyTest } from "../../http/server/ClientAddress.ts"
import { checkTls } from "./DatabaseTls.ts"
import { InvalidSetting } from "./InvalidSetting.ts"
import { type Environment, refuse, text } from "./Variables.ts"

/** The proxies, as a list, whose word about a client's address counts. */
export const trustedProxy = Effect.fnUntraced(function*(configured: string | undefined) {
  const value = Option.getOrUndefined(yield* text("TRUSTED_PROXY_IP")) ?? configured
  if (value === undefined) return Option.none<string>()
  return proxyTest(value) === undefined
    ? yield* refuse("TRUSTED_PROXY_IP", value, "IP addresses and networks, for example 10.0.0.5, 10.1.0.0/16")
    : Option.some(value)
})

/** So long a process that was told to stop answers on. Behind proxies, which notice it by their probes, it is needed. */
export const grace = (environment: Environment) =>
  Effect.flatMap(text("STOA_SHUTDOWN_GRACE_MS"), (found) => {
    if (Option.isNone(found)) return Effect.succeed(environment === "production" ? 5_000 : 0)
    const value = Number(found.value)
    return Number.isInteger(value) && value >= 0 && value <= 6_000
      ? Effect.succeed(value)
      : refuse("STOA_SHUTDOWN_GRACE_MS", found.value, "a whole number of milliseconds from 0 to 6000")
  })

/** Connection string of PostgreSQL; none where the embedded one is meant. */
export const databaseUrl = Effect.fnUntraced(function*(configured: string | undefined) {
  const value = Option.getOrUndefined(yield* text("DATABASE_URL")) ?? configured
  if (value === undefined) return Option.none<Redacted.Redacted<string>>()
  const protocol = URL.canParse(value) ? new URL(value).protocol : ""
  // The value holds a password, so the message shows its beginning only.
  if (protocol !== "postgres:" && protocol !== "postgresql:") {
    return yield* refuse("DATABASE_URL", `${value.slice(0, 10)}…`, "postgres://user:password@host:port/database")
  }
  const unusable = checkTls(value)
  if (unusable !== undefined) return yield* new InvalidSetting({ message: unusable })
  return Option.some(Redacted.make(value))
})
