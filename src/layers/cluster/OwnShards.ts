import { Effect, Layer } from "effect"
import { ClusterError, type EntityAddress, ShardId, Sharding } from "effect/cluster"

/**
 * The sharding as other processes reach it: a message is refused that names another shard than its entity's. Taken at its
 * word, it would run a second actor for the entity in a process that does not own it.
 */
export const ownShardsOnly: Layer.Layer<Sharding.Sharding, never, Sharding.Sharding> = Layer.effect(
  Sharding.Sharding,
  Effect.map(Sharding.Sharding, (sharding) => {
    const belongs = ({ entityId, shardId }: EntityAddress.EntityAddress) =>
      ShardId.toString(sharding.getShardId(entityId, shardId.group)) === ShardId.toString(shardId)
    const refused = (address: EntityAddress.EntityAddress) =>
      Effect.andThen(
        Effect.logWarning("Refused a message whose shard is not its actor's.", { entityType: address.entityType }),
        Effect.fail(new ClusterError.EntityNotAssignedToRunner({ address }))
      )
    return Sharding.Sharding.of({
      ...sharding,
      send: (message) => belongs(message.envelope.address) ? sharding.send(message) : refused(message.envelope.address),
      notify: (message, options) =>
        belongs(message.envelope.address) ? sharding.notify(message, options) : refused(message.envelope.address)
    })
  })
)
