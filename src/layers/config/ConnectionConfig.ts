import { Effect, Option, Redacted } from "effect"
import { isIP } from "node:net"
import { refuse, text } from "./Variables.ts"

/** The proxy whose word about a client's address counts. */
export const trustedProxy = Effect.fnUntraced(function*(configured: string | undefined) {
  const value = Option.getOrUndefined(yield* text("TRUSTED_PROXY_IP")) ?? configured
  if (value === undefined) return Option.none<string>()
  return isIP(value) === 0
    ? yield* refuse("TRUSTED_PROXY_IP", value, "one IP address, for example 10.0.0.5")
    : Option.some(value)
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
  return Option.some(Redacted.make(value))
})
