import { Context, Effect, Layer, Option } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Storeless } from "../../domain/access/AccessRule.ts"
import { CurrentActor } from "../../domain/access/Actor.ts"
import { StillRunning } from "../../domain/errors/ApiErrors.ts"
import { StoreSettings } from "../../domain/settings/StoreSettings.ts"
import { BodyDigest, BodyKey, Idempotency, IdempotentChange, NeverRepeated, OwnIdempotency } from "./Idempotency.ts"
import { fingerprint, keyInBody, keyScope, sentKey } from "./IdempotencyKey.ts"
import { IdempotentExecution, type Kept } from "./IdempotentExecution.ts"
import { givenAgain, stored } from "./StoredAnswer.ts"

/** A running request is worth asking for again in a second (ARCHITECTURE invariant 4). */
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
  if (response.status < 300) return { _tag: "Remember", status: response.status, body: stored(response) }
  return response.status < 500 ? { _tag: "Release" } : { _tag: "Doubt" }
}

/** `Idempotency` over the keys that the database remembers. */
export const idempotencyLayer = Layer.effect(
  Idempotency,
  Effect.gen(function*() {
    const { once } = yield* IdempotentExecution
    const { defaultOrganizationId } = yield* StoreSettings

    return Idempotency.of((handler, { endpoint }) =>
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        if (request.method === "GET" || hasNoKey(endpoint.annotations)) return yield* handler
        const inHeader = yield* sentKey(request)
        const inBody = Context.getOrUndefined(endpoint.annotations, BodyKey) === true
        if (inHeader === undefined && !inBody) return yield* handler
        // The body is read once and cached by the request, so the handler's decoder sees it again. A body that cannot
        // be read (too large, cut off) is a defect here exactly as it is there, and the edge answers it.
        const digest = yield* Effect.serviceOption(BodyDigest)
        const body = Option.isSome(digest) ? digest.value : yield* Effect.catch(request.text, Effect.die)
        const key = inHeader ?? keyInBody(body)
        if (key === undefined) return yield* handler
        const actor = yield* CurrentActor
        // A request may change the organization that its caller acts in: where it is for none, the key is for none either.
        const storeless = Context.getOrUndefined(endpoint.annotations, Storeless) === true
        const change = {
          key,
          scope: keyScope(actor, request),
          print: fingerprint(request.method, request.url, body),
          repeatable: Context.getOrUndefined(endpoint.annotations, IdempotentChange) === true,
          actor,
          owner: storeless ? { ...actor, organizationId: defaultOrganizationId } : actor,
          keep,
          again: givenAgain
        }
        return yield* once(change, handler)
      }).pipe(Effect.tapError(withRetryAfter))
    )
  })
)
