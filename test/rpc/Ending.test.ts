import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Stream } from "effect"
import { Client } from "pg"
import { StoaRpc } from "../../src/client/rpc/StoaRpc.ts"
import { eventually } from "../support/Eventually.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { startService } from "../support/Service.ts"
import { unread } from "./RawSocket.ts"

describe("the end of the process", () => {
  it.live(
    "waits for no open socket at /rpc, and calls made before it are answered",
    () =>
      Effect.gen(function*() {
        const { url: databaseUrl } = yield* freshDatabase
        const service = yield* startService({ databaseUrl })
        const connection = { url: service.url, apiKey: "dev-admin-key" }
        yield* unread(service.ports.http)
        const answered = yield* Effect.gen(function*() {
          const rpc = yield* StoaRpc
          const tail = yield* Effect.forkChild(Stream.runCollect(rpc["events.tail"]({})))
          let made = 0
          const calling = yield* Effect.forkChild(
            Effect.forEach(
              Array.from({ length: 2_000 }, (_, index) => `last-${index}`),
              (slug) =>
                Effect.tap(Effect.exit(rpc["catalog.create"]({ type: "product", slug })), ({ _tag }) =>
                  Effect.sync(() => void (made += _tag === "Success" ? 1 : 0))),
              { concurrency: 50, discard: true }
            )
          )
          yield* eventually(
            "some to be answered",
            Effect.sync(() =>
              made > 50
            )
          )
          service.kill("SIGTERM")
          // Both clients keep their sockets until the process has ended.
          yield* Effect.promise(() => service.ended)
          // All answers came before the end of the socket, which ends this call.
          yield* Fiber.await(tail)
          yield* Fiber.interrupt(calling)
          return made
        }).pipe(Effect.provide(Layer.fresh(StoaRpc.layerSocket(connection))))
        const { code } = yield* Effect.promise(() => service.ended)
        assert.strictEqual(code, 0, service.output())
        assert.notInclude(service.output(), "gave up waiting")
        const database = new Client({ connectionString: databaseUrl })
        const rows = yield* Effect.promise(() =>
          database.connect().then(() =>
            database.query<{ made: string }>("select count(*) as made from catalog_entities where slug like 'last-%'")
          ).finally(() => database.end())
        )
        // Every call that was carried out was answered; later ones were refused and not carried out.
        assert.strictEqual(Number(rows.rows[0]?.made), answered)
        assert.isBelow(answered, 2_000)
      })
  )
})
