import { PgConnection } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { createServer } from "node:net"
import { connectingTo } from "../../src/layers/config/DatabaseTls.ts"

/** The port of a server that accepts connections and says nothing. */
const silent = Effect.map(
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer().listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  ),
  (server) => Object(server.address()).port as number
)

const connecting = (address: string) =>
  Effect.forkChild(Effect.flip(Effect.scoped(PgConnection.make(connectingTo(Redacted.make(address))))), {
    startImmediately: true
  })

it.effect("a connection may take ten seconds, or as long as the address of the database says", () =>
  Effect.gen(function*() {
    const address = `postgres://stoa:stoa@127.0.0.1:${yield* silent}/stoa`
    const [usual, short, patient] = yield* Effect.all([
      connecting(address),
      connecting(`${address}?connect_timeout=2`),
      connecting(`${address}?connect_timeout=0`)
    ])
    yield* TestClock.adjust("9 seconds")
    assert.strictEqual((yield* Fiber.join(short)).message, "PgConnection: Connection timed out")
    assert.isUndefined(usual.pollUnsafe())
    yield* TestClock.adjust("1 day")
    assert.strictEqual((yield* Fiber.join(usual)).message, "PgConnection: Connection timed out")
    assert.isUndefined(patient.pollUnsafe())
    yield* Fiber.interrupt(patient)
  }).pipe(Effect.scoped))
