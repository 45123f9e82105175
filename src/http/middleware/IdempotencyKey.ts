import { Effect, Option, Schema } from "effect"
import type { Headers } from "effect/http"
import { createHash } from "node:crypto"
import type { Actor } from "../../domain/access/Actor.ts"
import { ValidationFailed } from "../../domain/errors/ApiErrors.ts"
import { IdempotencyKey, idempotencyKeyForm } from "../../domain/idempotency/IdempotencyKey.ts"

/** What identifies the sender of a request, over HTTP and over `/rpc` alike. */
export interface Shown {
  readonly headers: Headers.Headers
  readonly remoteAddress: Option.Option<string>
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

/** Identity of a caller, with its kind in front: a cart secret cannot be chosen to read like a user's id. */
const callerOf = (actor: Actor, { remoteAddress }: Shown): string => {
  if (actor.type === "api_key") return `key:${actor.keyId ?? actor.userId ?? actor.name}`
  if (actor.userId !== null) return `user:${actor.userId}`
  if (actor.cartSecret !== null) return `secret:${actor.cartSecret}`
  return `address:${Option.getOrElse(remoteAddress, () => "")}`
}

/**
 * Whose key it is: two callers may choose the same text without seeing each other's answers (contract §3.2, 0a).
 * Visitors without any credentials are distinguished by their address, which the edge resolves behind a proxy.
 */
export const keyScope = (actor: Actor, shown: Shown): string => sha256(callerOf(actor, shown))

/** What makes two requests the same: method, address and body. */
export const fingerprint = (method: string, url: string, body: string): string => sha256(`${method} ${url}\n${body}`)

const IdempotentBody = Schema.fromJsonString(Schema.Struct({ idempotencyKey: IdempotencyKey }))
const readKey = Schema.decodeUnknownOption(IdempotentBody)

/** The key that a body names; what is no key is left to the schema of the body. */
export const keyInBody = (body: string): string | undefined =>
  Option.getOrUndefined(Option.map(readKey(body), ({ idempotencyKey }) => idempotencyKey))

/** The key a request carries, undefined without one; 422 when it is not 8 to 255 visible ASCII characters. */
export const sentKey = ({ headers }: Pick<Shown, "headers">) => {
  const key = headers["idempotency-key"]
  return key === undefined || idempotencyKeyForm.test(key)
    ? Effect.succeed(key)
    : Effect.fail(ValidationFailed.of("Idempotency-Key", "must be 8 to 255 visible ASCII characters"))
}
