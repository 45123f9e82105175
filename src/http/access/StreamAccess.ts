import { Context, Effect, Stream } from "effect"
import { HttpBody, HttpServerResponse } from "effect/http"
import { type AccessRule, admit } from "../../domain/platform/access/AccessRule.ts"
import type { Actor } from "../../domain/platform/access/Actor.ts"
import { Unauthorized } from "../../domain/platform/errors/ApiErrors.ts"

const checkEvery = "1 second"

/** Fails once the credentials are invalid, of another actor than `opened`, or without the permission. */
export const checkReader = <E>(identify: Effect.Effect<Actor, E>, opened: Actor, rule: AccessRule) =>
  Effect.flatMap(identify, (actor) =>
    actor.organizationId === opened.organizationId && actor.userId === opened.userId
      ? admit(actor, rule)
      : Effect.fail(Unauthorized.of()))

export const awaitRefusal = <E>(check: Effect.Effect<void, E>): Effect.Effect<never, E> =>
  Effect.forever(Effect.delay(check, checkEvery))

export const holdBack = <E>(check: Effect.Effect<void, E>): Effect.Effect<void> =>
  Effect.catchCause(check, () => Effect.never)

export const BeforeDelivery = Context.Reference<Effect.Effect<void>>("stoa/http/access/BeforeDelivery", {
  defaultValue: () => Effect.void
})

export const deliverAfter = <A, E, R>(stream: Stream.Stream<A, E, R>, wait: Effect.Effect<void>) =>
  Stream.mapArrayEffect(stream, (chunk) => Effect.as(wait, chunk))

/** Ends server-sent events once `check` fails; other responses stay as they are. */
export const endWithAccess = <E>(response: HttpServerResponse.HttpServerResponse, check: Effect.Effect<void, E>) => {
  const { body } = response
  if (body._tag !== "Stream" || !body.contentType.startsWith("text/event-stream")) return response
  const stream = Stream.interruptWhen(
    deliverAfter(body.stream, holdBack(check)),
    Effect.ignoreCause(awaitRefusal(check))
  )
  return HttpServerResponse.setBody(response, HttpBody.stream(stream, body.contentType))
}
