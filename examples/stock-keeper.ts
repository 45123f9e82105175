import { Console, Effect, Stream } from "effect"
import { RpcClient } from "effect/rpc"
import { StoaRpc } from "stoa/client/rpc"
import { target } from "./Target.ts"

/*
 * node examples/stock-keeper.ts [UNITS]
 *
 * An internal service over /rpc: it goes through the stock of the store as a stream, tops up what has run low, and hears
 * of each of these changes among the events. Its key needs inventory:read, inventory:adjust and webhooks:manage.
 */
const enough = Number(process.argv[2] ?? 50)

const keep = Effect.gen(function*() {
  const rpc = yield* StoaRpc
  const { next } = yield* lastEvent

  const low = yield* rpc["inventory.stream"]({}).pipe(
    Stream.filter(({ available }) => available < enough),
    Stream.runCollect
  )
  yield* Console.log(`${low.length} below ${enough}`)

  yield* Effect.forEach(low, (level) =>
    rpc["inventory.adjust"]({
      entityId: level.entityId,
      variantId: level.variantId,
      warehouseId: level.warehouseId,
      adjustment: enough - level.available,
      reason: "topped up"
    }).pipe(
      // The same level is topped up once, also when this runs again before it has seen that.
      RpcClient.withHeaders({ "idempotency-key": `top-up-${level.id}-${level.version}` }),
      Effect.catchTag("NotFound", () => Console.log(`${level.entityId} has left the store`))
    ), { concurrency: 8, discard: true })

  const heard = yield* rpc["events.tail"]({ after: next, type: "inventory.afterAdjust" }).pipe(
    Stream.take(low.length),
    Stream.runCollect,
    Effect.timeout("20 seconds")
  )
  yield* Console.log(`${heard.length} changes heard of`)
})

/** Where the events stand now. */
const lastEvent = Effect.gen(function*() {
  const rpc = yield* StoaRpc
  let page = yield* rpc["events.list"]({ limit: 100 })
  while (page.events.length > 0) page = yield* rpc["events.list"]({ after: page.next, limit: 100 })
  return page
})

await Effect.runPromise(
  Effect.flatMap(target, (connection) => Effect.provide(keep, StoaRpc.layerSocket(connection)))
)
