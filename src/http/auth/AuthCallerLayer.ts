import { Effect, Layer } from "effect"
import { Headers, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"
import { CurrentActor } from "../../domain/access/Actor.ts"
import { Conflict, StillRunning, ValidationFailed } from "../../domain/errors/ApiErrors.ts"
import { issuesOf } from "../../domain/text/Issues.ts"
import { Actors } from "../access/Actors.ts"
import { actorOf, sendCookie } from "../middleware/AccessLayer.ts"
import { AuthCaller } from "./AuthCaller.ts"

const inBothForms = (error: Conflict | StillRunning | ValidationFailed) =>
  Effect.succeed(
    HttpServerResponse.jsonUnsafe(
      { code: error.error.code, message: error.error.message, error: error.error },
      { status: error instanceof ValidationFailed ? 422 : 409 }
    )
  )

/** A query that does not fit its schema, as better-auth refuses it. */
const unreadableQuery = (error: HttpApiError.HttpApiSchemaError) => {
  const [issue] = issuesOf(error.cause)
  const problem = { code: "VALIDATION_ERROR", message: `[query.${issue?.path ?? ""}] ${issue?.message ?? ""}` }
  return Effect.succeed(HttpServerResponse.jsonUnsafe({ ...problem, error: problem }, { status: 400 }))
}

const isOurs = (error: unknown): error is Conflict | StillRunning | ValidationFailed =>
  error instanceof Conflict || error instanceof StillRunning || error instanceof ValidationFailed

/** `AuthCaller` over the sessions of the database. */
export const authCallerLayer = Layer.effect(
  AuthCaller,
  Effect.map(Actors, (actors) =>
    AuthCaller.of((handler) =>
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        // A read needs no user: a link in a mail names its user, and better-auth itself renews the session.
        const headers = request.method === "GET" ? Headers.empty : request.headers
        const caller = yield* actors.fromSession(headers)
        if (caller.renewedCookie !== undefined) yield* sendCookie(caller.renewedCookie)
        const answer = Effect.provideService(handler, CurrentActor, actorOf(caller, request))
        return yield* Effect.catch(answer, (error) =>
          isOurs(error)
            ? inBothForms(error)
            : HttpApiError.HttpApiSchemaError.is(error) && error.kind === "Query"
            ? unreadableQuery(error)
            : Effect.fail(error))
      })
    ))
)
