import { Effect, Layer, Schema } from "effect"
import { Entity } from "effect/cluster"
import { type Rpc, RpcClient, RpcGroup, RpcMiddleware } from "effect/rpc"
import { Actor, CurrentActor } from "../../../domain/platform/access/Actor.ts"
import { Unavailable } from "../../../domain/platform/errors/ApiErrors.ts"
import { call, deadline, orUnavailable, unlessPast } from "../../../entities/EntityCall.ts"

const header = "x-stoa-call"

/** Who calls, and until when: milliseconds since 1970. */
const Call = Schema.fromJsonString(Schema.Struct({ actor: Actor, until: Schema.Number }))
const [encode, decode] = [Schema.encodeSync(Call), Schema.decodeUnknownSync(Call)]

/** Calls act as their caller, and are not begun when the caller has given up. */
class EntityAccess
  extends RpcMiddleware.Service<EntityAccess, { provides: CurrentActor }>()("stoa/plugins/kit/EntityAccess", {
    error: Unavailable
  })
{
  static readonly layer = Layer.succeed(
    EntityAccess,
    EntityAccess.of((handler, { headers }) =>
      Effect.suspend(() => {
        const { actor, until } = decode(headers[header])
        const answer = Effect.andThen(unlessPast(until), handler)
        return orUnavailable(Effect.provideService(answer, CurrentActor, actor))
      })
    )
  )
}

/** Which of its kind an entity is. */
export interface EntityKey {
  readonly organizationId: string
  readonly key: string
}

/** Ids begin with the organization, so no key reaches an entity of another one. */
const keyOf = (entityId: string): EntityKey => {
  const [organizationId = "", key = ""] = entityId.split("/").map(decodeURIComponent)
  return { organizationId, key }
}

/**
 * An entity of a plugin: for each organization and key one actor in the whole deployment, which handles its calls one at a
 * time (ARCHITECTURE §3, §4.6). Two can exist for moments after a partition, so what must hold is guarded in the database.
 * `name` is `<plugin>/<name>`.
 */
export const pluginEntity = <const Name extends string, const Rpcs extends ReadonlyArray<Rpc.Any>>(
  name: Name,
  protocol: Rpcs
) => {
  const entity = Entity.fromRpcGroup(name, RpcGroup.make(...protocol).middleware(EntityAccess))
  return {
    /**
     * Calls the entity of this key in the actor's organization, at most five seconds: then, and while the entity is on its
     * way to another process, a call fails with `Unavailable` (503 with `Retry-After`), which does not say whether the
     * change was made.
     */
    client: Effect.map(entity.client, (clientOf) =>
    <A, E extends { readonly _tag: string }, R>(
      key: string,
      send: (client: ReturnType<typeof clientOf>) => Effect.Effect<A, E, R>
    ) =>
      Effect.gen(function*() {
        const actor = yield* CurrentActor
        const id = [actor.organizationId, key].map(encodeURIComponent).join("/")
        const sent = { [header]: encode({ actor, until: yield* deadline }) }
        return yield* call(RpcClient.withHeaders(send(clientOf(id)), sent))
      })),
    /** Its behaviour, for `entities` of the manifest; `build` runs when an entity begins to live in a process. */
    behaviour: <Handlers extends Entity.HandlersFrom<Rpc.AddMiddleware<Rpcs[number], typeof EntityAccess>>, R>(
      build: (of: EntityKey) => Effect.Effect<Handlers, never, R>
    ) => ({
      name,
      layer: entity.toLayer(
        Effect.flatMap(Entity.CurrentAddress, ({ entityId }) => build(keyOf(String(entityId)))),
        { maxIdleTime: "1 minute", disableFatalDefects: true }
      ).pipe(Layer.provide(EntityAccess.layer))
    })
  }
}
