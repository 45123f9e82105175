import { Effect, Layer } from "effect"
import { Headers, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { CurrentActor } from "../../domain/access/Actor.ts"
import { Conflict, StillRunning, ValidationFailed } from "../../domain/errors/ApiErrors.ts"
import { Actors } from "../access/Actors.ts"
import { originOf, sendCookie } from "../middleware/Access.ts"

/**
 * Finds out whose session a request under `/api/auth` shows, for the journal of changes and for idempotency keys. It
 * refuses nobody: whether a session is needed is better-auth's to say, and whoever comes with a dead one comes to sign in.
 * Errors of the middleware inside of it get the form of these routes (contract, platform §1.1).
 */
export class AuthCaller extends HttpApiMiddleware.Service<AuthCaller, { provides: CurrentActor }>()(
  "stoa/http/AuthCaller"
) {}

const inBothForms = (error: Conflict | StillRunning | ValidationFailed) =>
  Effect.succeed(
    HttpServerResponse.jsonUnsafe(
      { code: error.error.code, message: error.error.message, error: error.error },
      { status: error instanceof ValidationFailed ? 422 : 409 }
    )
  )

const isOurs = (error: unknown): error is Conflict | StillRunning | ValidationFailed =>
  error instanceof Conflict || error instanceof StillRunning || error instanceof ValidationFailed

/** `AuthCaller` over the sessions of the database. */
export const authCallerLayer = Layer.effect(
  AuthCaller,
  Effect.map(Actors, (actors) =>
    AuthCaller.of((handler) =>
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        // A read needs nobody's name: what the link of a mail changes is its user's, and better-auth itself gives a session
        // that is asked for its later end.
        const headers = request.method === "GET" ? Headers.empty : request.headers
        const { credential: _, renewedCookie, ...found } = yield* actors.fromSession(headers)
        if (renewedCookie !== undefined) yield* sendCookie(renewedCookie)
        const answer = Effect.provideService(handler, CurrentActor, { ...found, ...originOf(request) })
        return yield* Effect.catch(answer, (error) => isOurs(error) ? inBothForms(error) : Effect.fail(error))
      })
    ))
)
