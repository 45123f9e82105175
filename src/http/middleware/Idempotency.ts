import { Context } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import type { CurrentActor } from "../../domain/access/Actor.ts"
import { Conflict, StillRunning, ValidationFailed } from "../../domain/errors/ApiErrors.ts"

/**
 * `Idempotency-Key` on every unsafe route: the same key with the same request gives the same answer, with another
 * request 422, while the first is still running 409 with Retry-After. Only successes are remembered: a refused request
 * changed nothing, so its key is free again. A request that neither succeeded nor was refused may have changed
 * something, and a repetition must not do it twice: it begins again only where the change is marked (`IdempotentChange`) and
 * was not made; else 409 without Retry-After. Routes with a memory of their own (checkout) say so by annotation.
 */
export class Idempotency extends HttpApiMiddleware.Service<Idempotency, { requires: CurrentActor }>()(
  "stoa/http/Idempotency",
  { error: [StillRunning, Conflict, ValidationFailed] }
) {}

/** Annotation of an endpoint that remembers its answers itself. */
export class OwnIdempotency extends Context.Service<OwnIdempotency, true>()("stoa/http/middleware/OwnIdempotency") {}

/** Annotation of an endpoint whose body may name the key, as `idempotencyKey`; the header wins. */
export class BodyKey extends Context.Service<BodyKey, true>()("stoa/http/middleware/BodyKey") {}

/**
 * Annotation of an endpoint all of whose changes are made by one statement or transaction that bears the mark of the
 * request (`IdempotencyRecordRepo`): beginning such a request again can never change anything twice.
 */
export class IdempotentChange
  extends Context.Service<IdempotentChange, true>()("stoa/http/middleware/IdempotentChange")
{}

/** Annotation of an endpoint whose answer is given to nobody a second time: an `Idempotency-Key` means nothing there. */
export class NeverRepeated extends Context.Service<NeverRepeated, true>()("stoa/http/middleware/NeverRepeated") {}

/**
 * What stands for the body of a request that was taken in as a stream, where a middleware further out did: its hash. Other
 * bodies are read here.
 */
export class BodyDigest extends Context.Service<BodyDigest, string>()("stoa/http/middleware/BodyDigest") {}
