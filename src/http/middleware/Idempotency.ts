import { Cause, Context, Effect, Fiber, Layer, Option, Redacted } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { createHash, createHmac } from "node:crypto"
import { Storeless } from "../../domain/access/AccessRule.ts"
import { type Actor, CurrentActor } from "../../domain/access/Actor.ts"
import { Conflict, StillRunning, ValidationFailed } from "../../domain/errors/ApiErrors.ts"
import { IdempotencyKeys } from "../../domain/idempotency/IdempotencyKeys.ts"
import { StoreSettings } from "../../domain/settings/StoreSettings.ts"
import { givenAgain, stored } from "./StoredAnswer.ts"

/**
 * `Idempotency-Key` on every unsafe route: the same key with the same request gives the same answer, with another
 * request 422, while the first is still running 409 with Retry-After. Only successes are remembered: a refused request
 * changed nothing, so its key is free again. A request that neither succeeded nor was refused may have changed
 * something, and a repetition must not do it twice: it begins again only where the change is marked (`MarkedChange`) and
 * was not made; else 409 without Retry-After. Routes with a memory of their own (checkout) say so by annotation.
 */
export class Idempotency extends HttpApiMiddleware.Service<Idempotency, { requires: CurrentActor }>()(
  "stoa/http/Idempotency",
  { error: [StillRunning, Conflict, ValidationFailed] }
) {}

/** Annotation of an endpoint that remembers its answers itself. */
export class OwnIdempotency extends Context.Service<OwnIdempotency, true>()("stoa/http/middleware/OwnIdempotency") {}

/**
 * Annotation of an endpoint all of whose changes are made by one statement or transaction that bears the mark of the
 * request (`MarkRepo`): beginning such a request again can never change anything twice.
 */
export class MarkedChange extends Context.Service<MarkedChange, true>()("stoa/http/middleware/MarkedChange") {}

/** Annotation of an endpoint whose answer is given to nobody a second time: an `Idempotency-Key` means nothing there. */
export class NeverRepeated extends Context.Service<NeverRepeated, true>()("stoa/http/middleware/NeverRepeated") {}

/**
 * What stands for the body of a request that was taken in as a stream, where a middleware further out did: its hash. Other
 * bodies are read here.
 */
export class BodyDigest extends Context.Service<BodyDigest, string>()("stoa/http/middleware/BodyDigest") {}

/** The same in every process. Keys that were used before it was changed are 422. */
export class FingerprintSecret
  extends Context.Service<FingerprintSecret, Redacted.Redacted<string>>()("stoa/http/middleware/FingerprintSecret")
{}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

/** What a caller is known by. The kind stands before it, so that nobody can pick a secret that reads like a user's id. */
const callerOf = (actor: Actor, request: HttpServerRequest.HttpServerRequest): string => {
  if (actor.type === "api_key") return `key:${actor.keyId ?? actor.userId ?? actor.name}`
  if (actor.userId !== null) return `user:${actor.userId}`
  if (actor.cartSecret !== null) return `secret:${actor.cartSecret}`
  return `address:${Option.getOrElse(request.remoteAddress, () => "")}`
}

/**
 * Whose key it is: two callers may choose the same text without seeing each other's answers (contract §3.2, 0a).
 * Visitors who show nothing at all are told apart by their address, which is the edge's to find out behind a proxy.
 */
export const keyScope = (actor: Actor, request: HttpServerRequest.HttpServerRequest): string =>
  sha256(callerOf(actor, request))

/** As long as a body's `idempotencyKey` (contract §3.1): a short key would be guessed by a stranger. */
const acceptableKey = /^[\x21-\x7e]{8,255}$/

/** What makes two requests the same: method, address and body. */
export const fingerprint = (method: string, url: string, body: string): string => sha256(`${method} ${url}\n${body}`)

/** The key a request carries, undefined without one; 422 when it is not 8 to 255 visible ASCII characters. */
export const sentKey = (request: HttpServerRequest.HttpServerRequest) => {
  const key = request.headers["idempotency-key"]
  return key === undefined || acceptableKey.test(key)
    ? Effect.succeed(key)
    : Effect.fail(ValidationFailed.of("Idempotency-Key", "must be 8 to 255 visible ASCII characters"))
}

/** A running request is worth asking for again in a second (ARCHITECTURE invariant 4). */
const withRetryAfter = (error: unknown) =>
  error instanceof StillRunning
    ? HttpEffect.appendPreResponseHandler((_request, response) =>
      Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", "1"))
    )
    : Effect.void

/** A refusal was decided before anything was changed. A defect, a silence or an interruption says nothing of that. */
const isRefusal = (cause: Cause.Cause<unknown>): boolean => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  return error !== undefined && !Cause.hasDies(cause) && !Cause.hasInterrupts(cause) &&
    !(typeof error === "object" && error !== null && "_tag" in error && error._tag === "Unavailable")
}

const inDoubt = (carriedOut: boolean) =>
  Conflict.of(
    carriedOut
      ? "The request with this Idempotency-Key was carried out, but its answer is lost. Read what it changed."
      : "The request with this Idempotency-Key was interrupted and may have been carried out. Look at what it was to " +
        "change before you send it again under a new key."
  )

const isUnkeyed = (annotations: Context.Context<never>): boolean =>
  Context.getOrUndefined(annotations, OwnIdempotency) === true ||
  Context.getOrUndefined(annotations, NeverRepeated) === true

export const idempotencyLayer = Layer.effect(
  Idempotency,
  Effect.gen(function*() {
    const keys = yield* IdempotencyKeys
    const { defaultOrganizationId } = yield* StoreSettings
    const secret = Redacted.value(yield* FingerprintSecret)
    // A body may hold a password, and is short. A bare hash of it in the database could be guessed a billion times a second.
    const sealed = (print: string) => createHmac("sha256", secret).update(`idempotency ${print}`).digest("hex")
    const scopeOfService = yield* Effect.scope

    return Idempotency.of((handler, { endpoint }) =>
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        if (request.method === "GET" || isUnkeyed(endpoint.annotations)) return yield* handler
        const key = yield* sentKey(request)
        if (key === undefined) return yield* handler
        // The body is read once and cached by the request, so the handler's decoder sees it again. A body that cannot
        // be read (too large, cut off) is a defect here exactly as it is there, and the edge answers it.
        const digest = yield* Effect.serviceOption(BodyDigest)
        const body = Option.isSome(digest) ? digest.value : yield* Effect.catch(request.text, Effect.die)
        const actor = yield* CurrentActor
        const scope = keyScope(actor, request)
        const hash = sealed(fingerprint(request.method, request.url, body))
        const repeatable = Context.getOrUndefined(endpoint.annotations, MarkedChange) === true
        // A request may change the organization that its caller acts in: where it is for none, the key is for none either.
        const storeless = Context.getOrUndefined(endpoint.annotations, Storeless) === true
        const owner = storeless ? { ...actor, organizationId: defaultOrganizationId } : actor
        const claim = yield* Effect.provideService(keys.claim(scope, key, hash, repeatable), CurrentActor, owner)
        if (claim._tag === "OtherRequest") {
          return yield* ValidationFailed.of("Idempotency-Key", "was used with another request", "key_reused")
        }
        if (claim._tag === "Running") return yield* StillRunning.of()
        if (claim._tag === "InDoubt") return yield* inDoubt(claim.carriedOut)
        if (claim._tag === "Done") return givenAgain(claim.status, claim.body)
        const { workId } = claim
        // One renewal that the database refuses must not be the last one.
        const renewing = Effect.forever(Effect.delay(Effect.ignoreCause(keys.renew(scope, key)), "2 seconds"))
        const marking = Effect.provideService(handler, CurrentActor, repeatable ? { ...actor, workId } : actor)
        const work = Effect.gen(function*() {
          const response = yield* Effect.andThen(Effect.forkScoped(renewing), marking).pipe(
            Effect.scoped,
            Effect.onError((cause) =>
              isRefusal(cause) ? keys.release(scope, key, workId) : keys.doubt(scope, key, workId)
            )
          )
          if (response.status < 300) yield* keys.finish(scope, key, workId, response.status, stored(response))
          // What broke inside of better-auth is an answer here, and says as little as a defect does.
          else yield* response.status < 500 ? keys.release(scope, key, workId) : keys.doubt(scope, key, workId)
          return response
        })
        // A client that hangs up ends its request. The work goes on: he comes again with the same key because he does
        // not know what became of it, and freeing the key after something was written would write it twice.
        const owned = Effect.provideService(work, CurrentActor, owner)
        return yield* Fiber.join(yield* Effect.forkIn(owned, scopeOfService))
      }).pipe(Effect.tapError(withRetryAfter))
    )
  })
)
