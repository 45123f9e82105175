import { Context } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import type { CurrentActor } from "../../domain/platform/access/Actor.ts"
import { Conflict, StillRunning, ValidationFailed } from "../../domain/platform/errors/ApiErrors.ts"

/**
 * `Idempotency-Key` on every unsafe route: the same key with the same request gives the same answer, with another
 * request 422, while the first is still running 409 with Retry-After. Only successes are stored: a refused request
 * changed nothing, so its key is free again. A request that neither succeeded nor was refused may have changed
 * something, and a repetition must not do it twice: it runs again only where the change writes an idempotency record
 * (`IdempotentChange`) and was not made; else 409 without Retry-After. Checkout has a separate execution (`OwnIdempotency`).
 */
export class Idempotency extends HttpApiMiddleware.Service<Idempotency, { requires: CurrentActor }>()(
  "stoa/http/Idempotency",
  { error: [StillRunning, Conflict, ValidationFailed] }
) {}

/** Annotation of an endpoint that stores its answers itself. */
export class OwnIdempotency extends Context.Service<OwnIdempotency, true>()("stoa/http/middleware/OwnIdempotency") {}

/** Annotation of an endpoint whose body may name the key, as `idempotencyKey`; the header wins. */
export class BodyKey extends Context.Service<BodyKey, true>()("stoa/http/middleware/BodyKey") {}

/**
 * Annotation of an endpoint all of whose changes are made by one statement or transaction that writes the idempotency
 * record of the request (`IdempotencyRecordRepo`): running such a request again can never change anything twice.
 */
export class IdempotentChange
  extends Context.Service<IdempotentChange, true>()("stoa/http/middleware/IdempotentChange")
{}

/** Annotation of an endpoint whose answer is never repeated: it ignores an `Idempotency-Key`. */
export class NeverRepeated extends Context.Service<NeverRepeated, true>()("stoa/http/middleware/NeverRepeated") {}

/**
 * The hash of a body that an outer middleware received as a stream. Other bodies are read here.
 */
export class BodyDigest extends Context.Service<BodyDigest, string>()("stoa/http/middleware/BodyDigest") {}
