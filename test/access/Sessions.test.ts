import { PgClient } from "@effect/sql-pg"
import { assert, describe, inject, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { DeploymentConfig } from "../../src/layers/config/DeploymentConfig.ts"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { api, appBeside, live, TestApp, testAppLayer } from "../support/TestApp.ts"
import { aKey, cookieOf, signed, signIn } from "./People.ts"

const deployment: DeploymentConfig = {
  auth: {
    roles: { buyer: { permissions: ["orders:read"] }, guarded: ["orders:read"] },
    twoFactor: { requiredForRoles: ["guarded"] },
    requireEmailVerification: false
  }
}

const orders = (headers: Record<string, string>) => api("GET", "/api/orders", { headers })

/** Status of a list that only members of some roles may read. */
const seen = (headers: Record<string, string>) => Effect.map(orders(headers), ({ status }) => status)

/** Changes rows without a notification. */
const silently = (statement: string) =>
  onDatabase((sql) =>
    sql.withTransaction(Effect.andThen(
      sql`set local session_replication_role = replica`,
      sql.unsafe(statement)
    ))
  )

/** Does something without notifications of sessions. */
const withoutNotifications = <E, R>(work: Effect.Effect<void, E, R>) =>
  Effect.acquireUseRelease(
    onDatabase((sql) => sql`alter table sessions disable trigger user`),
    () => work,
    () => onDatabase((sql) => sql`alter table sessions enable trigger user`)
  )

const notify = (token: string) =>
  onDatabase((sql) => sql`select pg_notify('auth_changed', 's' || encode(sha256(convert_to(${token}, 'UTF8')), 'hex'))`)

/**
 * Waits until the process caches what it reads, which a change without a notification shows, and until it has received
 * the notifications of all earlier changes: they come in the order of their commits.
 */
const atRest = Effect.gen(function*() {
  const token = yield* eventually(
    "the process to cache",
    Effect.gen(function*() {
      const { bearer, sessionId, token } = yield* signIn()
      yield* seen(bearer)
      yield* silently(`delete from sessions where id = '${sessionId}'`)
      return (yield* seen(bearer)) === 403 ? token : undefined
    })
  )
  yield* notify(token)
  yield* eventually(
    "the notification",
    Effect.map(seen({ authorization: `Bearer ${token}` }), (s) => s === 401)
  )
})

const onServer = <A>(body: (sql: SqlClient.SqlClient, database: string) => Effect.Effect<A, SqlError.SqlError>) =>
  Effect.flatMap(
    TestApp,
    ({ databaseUrl }) =>
      Effect.flatMap(SqlClient.SqlClient, (sql) => body(sql, new URL(databaseUrl).pathname.slice(1))).pipe(
        Effect.provide(PgClient.layer({ url: Redacted.make(inject("postgres").url), maxConnections: 1 })),
        Effect.orDie
      )
  )

/** Ends the connection for notifications, and allows no connection to the database until the scope closes. */
const withoutNewConnections = Effect.acquireRelease(
  onServer((sql, database) =>
    Effect.andThen(
      sql`alter database ${sql(database)} with allow_connections false`,
      sql`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'stoa-notifications' and datname = ${database}`
    )
  ),
  () => onServer((sql, database) => sql`alter database ${sql(database)} with allow_connections true`)
)

const withSessions = layer(testAppLayer(deployment), live)

withSessions("from headers to an actor", (it) => {
  describe("credentials", () => {
    it.effect("credentials of a session are its cookie and its token, raw or signed, encoded or not", () =>
      Effect.gen(function*() {
        const { bearer, cookie, token } = yield* signIn({ role: "staff" })
        for (
          const headers of [
            cookie,
            bearer,
            { authorization: `bearer ${signed(token)}` },
            { authorization: `Bearer ${encodeURIComponent(signed(token))}` },
            { cookie: `uc.session_token=${signed(token)}` }
          ]
        ) assert.strictEqual(yield* seen(headers), 200, JSON.stringify(headers))
      }))

    it.effect("credentials are those of a sign-up until the sign-out", () =>
      Effect.gen(function*() {
        const body = { email: "grace@example.com", password: "a long password", name: "Grace" }
        const made = yield* api("POST", "/api/auth/sign-up/email", { body })
        assert.strictEqual(made.status, 200, JSON.stringify(made.body))
        const cookie = (made.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? ""
        const forms = [
          { cookie },
          { authorization: `Bearer ${made.text("token")}` },
          { authorization: `Bearer ${made.headers.get("set-auth-token")}` }
        ]
        // A shopper gets 403; a visitor would get 401.
        const all = Effect.forEach(forms, seen)
        assert.deepStrictEqual(yield* all, [403, 403, 403])
        yield* onDatabase((sql) =>
          sql`insert into members (organization_id, user_id, role)
            select 'org_default', id, 'staff' from users where email = ${body.email}`
        )
        yield* eventually("the role to count", Effect.map(all, (now) => now.every((status) => status === 200)))
        const { url } = yield* TestApp
        const out = yield* api("POST", "/api/auth/sign-out", { body: {}, headers: { cookie, origin: url } })
        assert.strictEqual(out.status, 200, JSON.stringify(out.body))
        yield* eventually("the session to end", Effect.map(all, (now) => now.every((status) => status === 401)))
      }))

    it.effect("credentials that are invalid are refused and never give an anonymous actor", () =>
      Effect.gen(function*() {
        const { token } = yield* signIn({ role: "staff" })
        const { bearer: over } = yield* signIn({ role: "staff", ends: "now() - interval '1 second'" })
        const off = yield* aKey({ role: "staff", enabled: false })
        const old = yield* aKey({ role: "staff", expires: "now() - interval '1 second'" })
        const orphan = yield* aKey({ role: "staff", userId: randomUUID() })
        const wrong = [
          { cookie: `uc.session_token=${token}` },
          { cookie: `uc.session_token=${token}.${Buffer.alloc(32).toString("base64")}` },
          { cookie: "uc.session_token=%" },
          { cookie: "uc.session_token=%E0%A4%A.b" },
          { cookie: "uc.session_token=." },
          cookieOf("no such token"),
          { authorization: `Bearer ${token}x` },
          { authorization: "Bearer \u00e9.\u00e9" },
          over,
          off.headers,
          old.headers,
          orphan.headers,
          { "x-api-key": token },
          { "x-api-key": "" }
        ]
        for (const headers of wrong) {
          const answer = yield* api("GET", "/api/catalog/entities", { headers })
          refused(answer, 401, "UNAUTHORIZED", JSON.stringify(headers))
        }
        assert.strictEqual(
          (yield* api("GET", "/api/catalog/entities", { headers: { cookie: "uc.session_token=" } })).status,
          200
        )
      }))

    it.effect("credentials have an order: a bearer token alone, a valid cookie, then a key", () =>
      Effect.gen(function*() {
        const [staff, shopper] = [yield* signIn({ role: "staff" }), yield* signIn()]
        const key = yield* aKey({ role: "staff" })
        assert.strictEqual(yield* seen({ ...shopper.bearer, ...staff.cookie, ...key.headers }), 403)
        assert.strictEqual(yield* seen({ ...shopper.cookie, ...key.headers }), 403)
        assert.strictEqual(yield* seen({ cookie: "uc.session_token=x.y", ...key.headers }), 200)
        assert.strictEqual(yield* seen({ authorization: "Bearer wrong", ...key.headers }), 401)
        assert.strictEqual(yield* seen({ authorization: "Basic YTpi", ...key.headers }), 200)
      }))

    it.effect("credentials give a member the role of the organization, and make them a customer elsewhere", () =>
      Effect.gen(function*() {
        yield* onDatabase((sql) => sql`insert into organizations (id, slug, name) values ('org_b', 'b', 'B')`)
        const roles = (how: Parameters<typeof signIn>[0]) => Effect.flatMap(signIn(how), ({ bearer }) => orders(bearer))
        assert.strictEqual((yield* roles({ role: "buyer" })).status, 200)
        refused(yield* roles({ role: "no such role" }), 403, "FORBIDDEN", "an unknown role")
        refused(yield* roles({ role: "buyer,owner" }), 403, "FORBIDDEN", "two roles in one")
        refused(yield* roles({ role: "constructor" }), 403, "FORBIDDEN", "a name of every object")
        refused(yield* roles({ role: "owner", organization: "org_b" }), 403, "FORBIDDEN", "a member of another one")
        assert.strictEqual((yield* roles({ role: "owner", organization: "org_b", active: "org_b" })).status, 200)
        refused(yield* roles({ role: "owner", active: "org_b" }), 403, "FORBIDDEN", "active without a membership")
        const { bearer } = yield* signIn({ role: "owner", organization: "org_b", active: "org_b" })
        const made = yield* api("POST", "/api/catalog/brands", {
          headers: bearer,
          body: { slug: "b", displayName: "B" }
        })
        assert.strictEqual(made.at("data.organizationId"), "org_b")
      }))

    it.effect("credentials of a role that requires a second factor open nothing without it", () =>
      Effect.gen(function*() {
        const [without, having] = [
          yield* signIn({ role: "guarded" }),
          yield* signIn({ role: "guarded", twoFactor: true })
        ]
        refused(yield* orders(without.bearer), 403, "TWO_FACTOR_REQUIRED", "orders")
        refused(
          yield* api("GET", "/api/catalog/entities", { headers: without.cookie }),
          403,
          "TWO_FACTOR_REQUIRED",
          "open"
        )
        assert.strictEqual(yield* seen(having.bearer), 200)
      }))
  })

  describe("the cache of credentials", () => {
    it.effect("the cache of credentials spares the database until a notification of a change", () =>
      Effect.gen(function*() {
        const { bearer, cookie, sessionId, token } = yield* signIn({ role: "staff" })
        yield* atRest
        const forms = [bearer, cookie, { authorization: `Bearer ${signed(token)}` }]
        const all = Effect.forEach(forms, seen)
        assert.deepStrictEqual(yield* all, [200, 200, 200])
        yield* silently(`delete from sessions where id = '${sessionId}'`)
        assert.deepStrictEqual(yield* all, [200, 200, 200])
        yield* notify(token)
        yield* eventually("all forms to be refused", Effect.map(all, (now) => now.every((status) => status === 401)))
      }))

    it.effect("the cache of credentials drops a session with the answer that ends it, without a notification", () =>
      Effect.gen(function*() {
        const endings: ReadonlyArray<readonly [path: string, of: (token: string) => object]> = [
          ["sign-out", () => ({})],
          ["revoke-session", (token) => ({ token })],
          ["revoke-sessions", () => ({})]
        ]
        for (const [path, body] of endings) {
          const { bearer, token } = yield* signIn({ role: "staff" })
          yield* atRest
          assert.strictEqual(yield* seen(bearer), 200)
          yield* withoutNotifications(Effect.gen(function*() {
            const ended = yield* api("POST", `/api/auth/${path}`, { headers: bearer, body: body(token) })
            assert.strictEqual(ended.status, 200, path)
            assert.strictEqual(yield* seen(bearer), 401, path)
          }))
        }
      }))

    it.effect("the cache of credentials drops a session or key on every process when it is revoked on one", () =>
      Effect.gen(function*() {
        const beside = yield* appBeside(deployment)
        const [{ bearer, cookie, sessionId }, key] = [yield* signIn({ role: "staff" }), yield* aKey({ role: "staff" })]
        yield* atRest
        yield* Effect.provideService(atRest, TestApp, beside)
        const everywhere = Effect.forEach(
          [bearer, cookie, key.headers],
          (headers) => Effect.all([seen(headers), Effect.provideService(seen(headers), TestApp, beside)])
        )
        assert.deepStrictEqual(yield* everywhere, [[200, 200], [200, 200], [200, 200]])
        yield* onDatabase((sql) =>
          Effect.andThen(
            sql`delete from sessions where id = ${sessionId}::uuid`,
            sql`update api_keys set enabled = false where id = ${key.id}::uuid`
          )
        )
        yield* eventually(
          "both processes to refuse all of them",
          Effect.map(everywhere, (all) => all.flat().every((status) => status === 401))
        )
      }))

    it.effect("the cache of credentials follows changes of a user's membership, role and record", () =>
      Effect.gen(function*() {
        const { bearer, userId } = yield* signIn({ role: "staff" })
        yield* atRest
        const becomes = (status: number) => eventually(`${status}`, Effect.map(seen(bearer), (now) => now === status))
        assert.strictEqual(yield* seen(bearer), 200)
        yield* onDatabase((sql) => sql`update members set role = 'nothing' where user_id = ${userId}::uuid`)
        yield* becomes(403)
        yield* onDatabase((sql) => sql`update members set role = 'admin' where user_id = ${userId}::uuid`)
        yield* becomes(200)
        yield* onDatabase((sql) => sql`delete from members where user_id = ${userId}::uuid`)
        yield* becomes(403)
        yield* onDatabase((sql) => sql`delete from users where id = ${userId}::uuid`)
        yield* becomes(401)
      }))

    it.effect("the cache of credentials is emptied when the connection for notifications ends", () =>
      Effect.gen(function*() {
        const { bearer, sessionId } = yield* signIn({ role: "staff" })
        yield* atRest
        assert.strictEqual(yield* seen(bearer), 200)
        yield* silently(`delete from sessions where id = '${sessionId}'`)
        assert.strictEqual(yield* seen(bearer), 200)
        // No new connection is possible, so that it is the end of the old one which empties the cache.
        yield* Effect.scoped(Effect.gen(function*() {
          yield* withoutNewConnections
          yield* eventually("the session to be refused", Effect.map(seen(bearer), (status) => status === 401))
        }))
        yield* atRest
      }))
  })

  describe("a session in use", () => {
    const endOf = (sessionId: string) =>
      Effect.map(
        onDatabase((sql) =>
          sql<{ days: number; at: string }>`select expires_at::text as at,
          round(extract(epoch from expires_at - now()) / 86400)::int4 as days from sessions where id = ${sessionId}::uuid`
        ),
        ([row]) => row
      )

    it.effect("a session in use is extended to its full lifetime after a day, once, with a new cookie", () =>
      Effect.gen(function*() {
        const { cookie, sessionId } = yield* signIn({
          role: "staff",
          began: "now() - interval '2 days'",
          ends: "now() + interval '5 days'"
        })
        const answer = yield* orders(cookie)
        assert.match(
          answer.headers.get("set-cookie") ?? "",
          /^uc\.session_token=[\w.%-]+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/
        )
        const renewed = yield* endOf(sessionId)
        assert.strictEqual(renewed?.days, 7)
        const again = yield* orders(cookie)
        assert.deepStrictEqual([again.status, again.headers.get("set-cookie")], [200, null])
        assert.deepStrictEqual(yield* endOf(sessionId), renewed)
      }))

    it.effect("a session in use is not extended on its first day, and never without \"remember me\"", () =>
      Effect.gen(function*() {
        const young = yield* signIn({ role: "staff", ends: "now() + interval '6 days 1 hour'" })
        const short = yield* signIn({ role: "staff", ends: "now() + interval '1 day'" })
        for (const { cookie, sessionId } of [young, short]) {
          const before = yield* endOf(sessionId)
          assert.strictEqual((yield* orders(cookie)).headers.get("set-cookie"), null)
          assert.deepStrictEqual(yield* endOf(sessionId), before)
        }
      }))
  })

  describe("an API key", () => {
    it.effect("an API key has the permissions of its role, narrowed to its list, and without a role only its list", () =>
      Effect.gen(function*() {
        const may = (key: { headers: { "x-api-key": string } }) =>
          Effect.all([seen(key.headers), Effect.map(api("GET", "/api/pricing/prices", key), ({ status }) => status)])
        assert.deepStrictEqual(yield* may(yield* aKey({ role: "admin" })), [200, 200])
        assert.deepStrictEqual(yield* may(yield* aKey({ role: "staff" })), [200, 403])
        assert.deepStrictEqual(yield* may(yield* aKey({ role: "admin", permissions: { pricing: ["read"] } })), [
          403,
          200
        ])
        assert.deepStrictEqual(yield* may(yield* aKey({ role: "staff", permissions: { pricing: ["read"] } })), [
          403,
          403
        ])
        assert.deepStrictEqual(yield* may(yield* aKey({ permissions: { orders: ["read"] } })), [200, 403])
        const { userId } = yield* signIn({ role: "owner" })
        assert.deepStrictEqual(yield* may(yield* aKey({ userId })), [403, 403])
        assert.deepStrictEqual(yield* may(yield* aKey({ role: "gone" })), [403, 403])
      }))

    it.effect("an API key is accepted as a bearer token, acts in its organization and is the actor in the audit trail", () =>
      Effect.gen(function*() {
        yield* onDatabase((sql) => sql`insert into organizations (id, slug, name) values ('org_k', 'k', 'K')`)
        const { id, key } = yield* aKey({ role: "admin", organization: "org_k" })
        const headers = { authorization: `Bearer ${key}` }
        const made = yield* api("POST", "/api/catalog/brands", { headers, body: { slug: "k", displayName: "K" } })
        assert.strictEqual(made.at("data.organizationId"), "org_k")
        const trail = yield* eventually(
          "the entry",
          Effect.map(
            api("GET", "/api/audit?event=brands.create", { headers }),
            (answer) => answer.list("data").length > 0 ? answer : undefined
          )
        )
        assert.deepStrictEqual([trail.at("data.0.actorType"), trail.at("data.0.actorId")], ["api_key", id])
      }))

    it.effect("an API key has its uses counted and its last use stored, many in one statement", () =>
      Effect.gen(function*() {
        const { headers, id } = yield* aKey({ role: "staff" })
        yield* Effect.forEach([1, 2, 3, 4, 5], () => seen(headers), { concurrency: 5 })
        yield* eventually(
          "five uses",
          Effect.map(
            onDatabase((sql) =>
              sql`select 1 from api_keys where id = ${id}::uuid and request_count = 5 and last_request > now() - interval '1 minute'`
            ),
            (rows) => rows.length === 1
          )
        )
      }))

    it.effect("an API key with a limited number of uses is refused after the last one", () =>
      Effect.gen(function*() {
        const { headers } = yield* aKey({ role: "staff", remaining: 2 })
        const statuses = yield* Effect.forEach([1, 2, 3, 4], () => seen(headers), { concurrency: 4 })
        assert.deepStrictEqual([...statuses].sort(), [200, 200, 401, 401])
      }))
  })
})
