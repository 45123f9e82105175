import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { aKey, signIn } from "../access/People.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { clientOf } from "../rpc/Calls.ts"
import { api, asAdmin, type TestApp, testAppLayer } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"
import { anEntity, cursorOf, openStream } from "./EventStream.ts"

/** How a reader gets in, and what ends that. */
interface Ending {
  readonly headers: Readonly<Record<string, string>>
  readonly end: Effect.Effect<unknown, never, TestApp>
}

/** A session that a statement ends. */
const session = (
  statement: (sql: SqlClient.SqlClient, userId: string, id: string) => Effect.Effect<unknown, SqlError.SqlError>
) =>
  Effect.map(signIn({ role: "admin" }), ({ bearer, sessionId, userId }): Ending => ({
    headers: bearer,
    end: onDatabase((sql) => statement(sql, userId, sessionId))
  }))

const endings: ReadonlyArray<readonly [name: string, made: Effect.Effect<Ending, never, TestApp>]> = [
  [
    "its session is signed out",
    Effect.map(signIn({ role: "admin" }), ({ bearer }) => ({
      headers: bearer,
      end: api("POST", "/api/auth/sign-out", { headers: { ...bearer } })
    }))
  ],
  [
    "its session expires",
    session((sql, _, id) => sql`update sessions set expires_at = now() where id = ${id}::uuid`)
  ],
  ["its user is deleted", session((sql, userId) => sql`delete from users where id = ${userId}::uuid`)],
  [
    "its user leaves the organization",
    session((sql, userId) => sql`delete from members where user_id = ${userId}::uuid`)
  ],
  [
    "its role loses the permission",
    session((sql, userId) => sql`update members set role = 'staff' where user_id = ${userId}::uuid`)
  ],
  [
    "its key is revoked",
    Effect.map(aKey({ role: "admin" }), ({ headers, id }) => ({
      headers,
      end: api("DELETE", `/api/admin/api-keys/${id}`, { as: asAdmin })
    }))
  ],
  [
    "its key expires",
    Effect.map(aKey({ role: "admin" }), ({ headers, id }) => ({
      headers,
      end: onDatabase((sql) => sql`update api_keys set expires_at = now() where id = ${id}::uuid`)
    }))
  ]
]

const keysOpen = testAppLayer({ auth: { apiKeys: { enabled: true } } })

layer(keysOpen, { excludeTestServices: true, timeout: "60 seconds" })("the stream of events", (it) => {
  for (const [name, made] of endings) {
    it.effect(`ends once ${name}, without what happens after that`, () =>
      Effect.gen(function*() {
        const after = yield* cursorOf()
        const { end, headers } = yield* made
        const stream = yield* openStream(`?after=${after}&type=catalog.create`, {}, { "x-test-actor": "", ...headers })
        const seen = yield* anEntity()
        yield* stream.until(1)
        yield* end
        yield* anEntity()
        yield* Effect.promise(() => waitFor("the end of the stream", stream.ended))
        assert.deepStrictEqual(stream.messages.map(({ data }) => Object(data).entityId), [seen])
        assert.include([401, 403], (yield* api("GET", "/api/events", { headers })).status)
      }))
  }

  it.effect("goes on for a key with one use, which looks at its access do not use up", () =>
    Effect.gen(function*() {
      const after = yield* cursorOf()
      const { headers } = yield* aKey({ role: "admin", remaining: 1 })
      const stream = yield* openStream(`?after=${after}&type=catalog.create`, {}, { "x-test-actor": "", ...headers })
      for (const count of [1, 2, 3]) {
        yield* anEntity()
        yield* stream.until(count)
      }
      assert.deepStrictEqual([stream.ended(), stream.messages.length], [false, 3])
    }))

  it.effect("of /rpc delivers nothing that happens after its key is revoked", () =>
    Effect.gen(function*() {
      const after = yield* cursorOf()
      const { id, key } = yield* aKey({ role: "admin" })
      const heard: Array<string> = []
      const rpc = yield* clientOf(key)
      const tail = yield* rpc["events.tail"]({ after, type: "catalog.create" }).pipe(
        Stream.runForEach(({ entityId }) => Effect.sync(() => heard.push(entityId))),
        Effect.flip,
        Effect.forkChild
      )
      const seen = yield* anEntity()
      yield* Effect.promise(() => waitFor("the event", () => heard.length === 1))
      yield* api("DELETE", `/api/admin/api-keys/${id}`, { as: asAdmin })
      yield* anEntity()
      assert.strictEqual((yield* Fiber.join(tail))._tag, "Unauthorized")
      assert.deepStrictEqual(heard, [seen])
    }))
})
