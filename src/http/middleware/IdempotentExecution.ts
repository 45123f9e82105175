import { Cause, Context, Effect, Fiber, Layer, Option, Redacted, Schema } from "effect"
import { Cookies, type Headers, HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash, createHmac } from "node:crypto"
import { Storeless } from "../../domain/platform/access/AccessRule.ts"
import { type Actor, CurrentActor } from "../../domain/platform/access/Actor.ts"
import { type Conflict, StillRunning, type ValidationFailed } from "../../domain/platform/errors/ApiErrors.ts"
import { conflict, invalid } from "../../domain/platform/errors/ErrorKinds.ts"
import {
  IdempotencyKey,
  idempotencyKeyForm,
  IdempotencyKeys
} from "../../domain/platform/idempotency/IdempotencyKeys.ts"
import { StoreSettings } from "../../domain/platform/settings/StoreSettings.ts"
import { BodyDigest, BodyKey, Idempotency, IdempotentChange, NeverRepeated, OwnIdempotency } from "./Idempotency.ts"

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
    : Effect.fail(new MalformedKey())
}

/** The same in every process. Keys that were used before it was changed are 422. */
export class FingerprintSecret
  extends Context.Service<FingerprintSecret, Redacted.Redacted<string>>()("stoa/http/middleware/FingerprintSecret")
{}

export type Kept =
  | { readonly _tag: "Store"; readonly status: number; readonly body: string }
  /** Refused before anything was changed: the key is free again. */
  | { readonly _tag: "Release" }
  /** It is unknown what was changed. */
  | { readonly _tag: "Doubt" }

/** A change under an `Idempotency-Key`. */
export interface IdempotentRequest<Answer> {
  readonly key: string
  readonly shown: Shown
  /** What makes two requests the same (`fingerprint`). */
  readonly print: string
  /** Those of the route. */
  readonly annotations: Context.Context<never>
  readonly keep: (answer: Answer) => Kept
  /** A stored answer, as it was. */
  readonly again: (status: number, body: string) => Answer
}

/** A refusal was decided before anything was changed. A defect, a timeout or an interruption says nothing of that. */
const isRefusal = (cause: Cause.Cause<unknown>): boolean => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  return error !== undefined && !Cause.hasDies(cause) && !Cause.hasInterrupts(cause) &&
    !(typeof error === "object" && error !== null && "_tag" in error && error._tag === "Unavailable")
}

export class MalformedKey
  extends invalid("MalformedKey", "Idempotency-Key", "must be 8 to 255 visible ASCII characters.", "format")
{}
export class KeyReused extends invalid(
  "KeyReused",
  "Idempotency-Key",
  "must be a new one: this one was used with another request.",
  "key_reused"
) {}
export class InDoubt extends conflict("InDoubt", (carriedOut: boolean) =>
  carriedOut
    ? "The request with this Idempotency-Key was carried out, but its answer is lost. Read what it changed."
    : "The request with this Idempotency-Key was interrupted and may have been carried out. Look at what it was to " +
      "change before you send it again under a new key.")
{}

/**
 * Work that is done once for a key, over HTTP and over `/rpc` alike (ARCHITECTURE invariant 4): the same request again
 * gets the same answer, another request 422, and while the first one runs 409.
 */
export class IdempotentExecution extends Context.Service<IdempotentExecution, {
  readonly once: <Answer, E, R>(
    change: IdempotentRequest<Answer>,
    work: Effect.Effect<Answer, E, R>
  ) => Effect.Effect<Answer, E | StillRunning | Conflict | ValidationFailed, R | CurrentActor>
}>()("stoa/http/middleware/IdempotentExecution") {
  static readonly layer = Layer.effect(IdempotentExecution, Effect.suspend(() => makeIdempotentExecution))
}

const makeIdempotentExecution = Effect.gen(function*() {
  const keys = yield* IdempotencyKeys
  const { defaultOrganizationId } = yield* StoreSettings
  const secret = Redacted.value(yield* FingerprintSecret)
  // A body may hold a password, and is short. A bare hash of it in the database could be guessed a billion times a second.
  const hashed = (print: string) => createHmac("sha256", secret).update(`idempotency ${print}`).digest("hex")
  const scopeOfService = yield* Effect.scope

  // The work's result is the answer, also where the key cannot be released: its lease expires.
  const settled = (settling: Effect.Effect<void, never, CurrentActor>) =>
    Effect.catchCause(
      settling,
      (cause) => Effect.logWarning("an idempotency key waits for the end of its lease", cause)
    )

  const claimed = Effect.fnUntraced(function*<Answer, E, R>(
    { keep, key }: IdempotentRequest<Answer>,
    scope: string,
    executionId: string,
    work: Effect.Effect<Answer, E, R>
  ) {
    // One renewal that the database refuses must not be the last one.
    const renewing = Effect.forever(Effect.delay(Effect.ignoreCause(keys.renew(scope, key)), "2 seconds"))
    const release = settled(keys.release(scope, key, executionId))
    const doubt = settled(keys.doubt(scope, key, executionId))
    const answer = yield* Effect.andThen(Effect.forkScoped(renewing), work).pipe(
      Effect.scoped,
      Effect.onError((cause) => isRefusal(cause) ? release : doubt)
    )
    const kept = keep(answer)
    if (kept._tag === "Store") yield* keys.finish(scope, key, executionId, kept.status, kept.body)
    // What broke inside of better-auth is an answer here, and says as little as a defect does.
    else yield* kept._tag === "Release" ? release : doubt
    return answer
  })

  return IdempotentExecution.of({
    once: Effect.fnUntraced(function*(change, work) {
      const { again, annotations, key, print, shown } = change
      const actor = yield* CurrentActor
      const scope = keyScope(actor, shown)
      const repeatable = Context.getOrUndefined(annotations, IdempotentChange) === true
      // A request may change the organization that its caller acts in: where it is for none, the key is for none either.
      const storeless = Context.getOrUndefined(annotations, Storeless) === true
      const owner = storeless ? { ...actor, organizationId: defaultOrganizationId } : actor
      const claim = yield* Effect.provideService(keys.claim(scope, key, hashed(print), repeatable), CurrentActor, owner)
      if (claim._tag === "OtherRequest") {
        return yield* new KeyReused()
      }
      if (claim._tag === "Running") return yield* StillRunning.of()
      if (claim._tag === "InDoubt") return yield* new InDoubt(claim.carriedOut)
      if (claim._tag === "Done") return again(claim.status, claim.body)
      const { executionId } = claim
      const own = Effect.provideService(work, CurrentActor, repeatable ? { ...actor, executionId } : actor)
      // A client that hangs up ends its request. The work goes on: the client repeats it with the same key because it does
      // not know the outcome, and freeing the key after something was written would write it twice.
      const working = Effect.provideService(claimed(change, scope, executionId, own), CurrentActor, owner)
      return yield* Fiber.join(yield* Effect.forkIn(working, scopeOfService))
    })
  })
})

/** An answer as it is stored for a retry with its key; cookies in the form of `Set-Cookie`. */
const StoredAnswer = Schema.fromJsonString(
  Schema.Struct({
    body: Schema.String,
    headers: Schema.Record(Schema.String, Schema.String),
    cookies: Schema.Array(Schema.String)
  })
)
const encode = Schema.encodeSync(StoredAnswer)
const decode = Schema.decodeSync(StoredAnswer)

/** The text of an answer that a retry gets: body, cookies and the route's headers. The edge adds the others. */
const stored = ({ body, cookies, headers }: HttpServerResponse.HttpServerResponse): string =>
  encode({
    body: body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : "",
    headers: { ...headers },
    cookies: Cookies.toSetCookieHeaders(cookies)
  })

const givenAgain = (status: number, text: string): HttpServerResponse.HttpServerResponse => {
  const { body, cookies, headers } = decode(text)
  const { "content-length": _length, "content-type": contentType = "application/json", ...others } = headers
  return HttpServerResponse.text(body, { status, contentType, headers: others }).pipe(
    HttpServerResponse.mergeCookies(Cookies.fromSetCookie(cookies))
  )
}

/** A client may ask again for a running request after a second (ARCHITECTURE invariant 4). */
const withRetryAfter = (error: unknown) =>
  error instanceof StillRunning
    ? HttpEffect.appendPreResponseHandler((_request, response) =>
      Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", "1"))
    )
    : Effect.void

const hasNoKey = (annotations: Context.Context<never>): boolean =>
  Context.getOrUndefined(annotations, OwnIdempotency) === true ||
  Context.getOrUndefined(annotations, NeverRepeated) === true

const keep = (response: HttpServerResponse.HttpServerResponse): Kept => {
  if (response.status < 300) return { _tag: "Store", status: response.status, body: stored(response) }
  return response.status < 500 ? { _tag: "Release" } : { _tag: "Doubt" }
}

export const idempotencyLayer = Layer.effect(
  Idempotency,
  Effect.map(IdempotentExecution, ({ once }) =>
    Idempotency.of((handler, { endpoint: { annotations, method } }) => {
      if (method === "GET") return handler
      // A checkout has separate keys, whose work may still be running.
      if (hasNoKey(annotations)) return Effect.tapError(handler, withRetryAfter)
      const inBody = Context.getOrUndefined(annotations, BodyKey) === true
      const withKey = Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        const inHeader = yield* sentKey(request)
        // The body is read once and cached by the request, so the handler's decoder sees it again. A body that cannot
        // be read (too large, cut off) is a defect here exactly as it is there, and the edge answers it.
        const digest = yield* Effect.serviceOption(BodyDigest)
        const body = Option.isSome(digest) ? digest.value : yield* Effect.catch(request.text, Effect.die)
        const key = inHeader ?? keyInBody(body)
        if (key === undefined) return yield* handler
        const print = fingerprint(request.method, request.url, body)
        return yield* once({ key, shown: request, print, annotations, keep, again: givenAgain }, handler)
      }).pipe(Effect.tapError(withRetryAfter))
      return inBody ? withKey : Effect.flatMap(
        HttpServerRequest.HttpServerRequest,
        ({ headers }) => headers["idempotency-key"] === undefined ? handler : withKey
      )
    }))
)
