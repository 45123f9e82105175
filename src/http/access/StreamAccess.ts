import { Context, Effect, Stream } from "effect"
import { HttpBody, HttpServerResponse } from "effect/http"
import { type AccessRule, admit } from "../../domain/platform/access/AccessRule.ts"
import type { Actor } from "../../domain/platform/access/Actor.ts"
import { Unauthorized } from "../../domain/platform/errors/ApiErrors.ts"

/** How often the access of an open stream is checked, which has a cache. */
const checkEvery = "1 second"

/** Fails once the credentials of a stream are invalid, belong to another actor than `opened`, or lost the permission. */
export const checkReader = <E>(identify: Effect.Effect<Actor, E>, opened: Actor, rule: AccessRule) =>
  Effect.flatMap(identify, (actor) =>
    actor.organizationId === opened.organizationId && actor.userId === opened.userId
      ? admit(actor, rule)
      : Effect.fail(Unauthorized.of()))

/** Fails like `check` once that fails; never succeeds. */
export const awaitRefusal = <E>(check: Effect.Effect<void, E>): Effect.Effect<never, E> =>
  Effect.forever(Effect.delay(check, checkEvery))

/** Never succeeds once `check` fails, so that nothing is delivered until the stream is ended. */
export const holdBack = <E>(check: Effect.Effect<void, E>): Effect.Effect<void> =>
  Effect.catchCause(check, () => Effect.never)

/** What a stream waits for before it delivers what it has read. */
export const BeforeDelivery = Context.Reference<Effect.Effect<void>>("stoa/http/access/BeforeDelivery", {
  defaultValue: () => Effect.void
})

/** Waits before each chunk of a stream is delivered. */
export const deliverAfter = <A, E, R>(stream: Stream.Stream<A, E, R>, wait: Effect.Effect<void>) =>
  Stream.mapArrayEffect(stream, (chunk) => Effect.as(wait, chunk))

/** Ends server-sent events once `check` fails, and delivers none that happen after that. Other answers stay as they are. */
export const endWithAccess = <E>(response: HttpServerResponse.HttpServerResponse, check: Effect.Effect<void, E>) => {
  const { body } = response
  if (body._tag !== "Stream" || !body.contentType.startsWith("text/event-stream")) return response
  const stream = Stream.interruptWhen(
    deliverAfter(body.stream, holdBack(check)),
    Effect.ignoreCause(awaitRefusal(check))
  )
  return HttpServerResponse.setBody(response, HttpBody.stream(stream, body.contentType))
}
