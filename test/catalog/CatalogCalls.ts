import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Actor } from "../../src/domain/access/Actor.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { sharedClient } from "../support/SharedClients.ts"
import { api, asAdmin, asCustomer, TestApp } from "../support/TestApp.ts"

export const entities = "/api/catalog/entities"
export const categories = "/api/catalog/categories"
export const brands = "/api/catalog/brands"

export const shopper = asCustomer("shopper-1")

/** Creates an entity of type product with a unique slug, unless the body says otherwise. */
export const make = Effect.fnUntraced(function*(body: object) {
  const data = yield* api("POST", entities, { as: asAdmin, body: { type: "product", slug: newId(), ...body } })
  assert.strictEqual(data.status, 201, JSON.stringify(data.body))
  return { id: data.text("data.id"), slug: data.text("data.slug"), data }
})

/** Sends as the administrator or as given (undefined: without credentials) and expects this refusal. */
export const refused = Effect.fnUntraced(function*(
  method: string,
  path: string,
  body: unknown,
  status: number,
  code: string,
  ...actor: ReadonlyArray<Partial<Actor> | undefined>
) {
  const as = actor.length === 0 ? asAdmin : actor[0]
  const answer = yield* api(method, path, {
    ...(body === undefined ? {} : { body }),
    ...(as === undefined ? {} : { as })
  })
  assert.deepStrictEqual([answer.status, answer.at("error.code")], [status, code], `${method} ${path}`)
  assert.isString(answer.at("error.message"))
  return answer
})

/** Runs statements on the service's own database. */
export const onDatabase = <A, E, R>(
  body: (sql: SqlClient.SqlClient, organizationId: string) => Effect.Effect<A, E, R>
) =>
  Effect.flatMap(TestApp, ({ databaseUrl, organizationId }) =>
    Effect.provide(
      Effect.flatMap(SqlClient.SqlClient, (sql) => body(sql, organizationId)),
      sharedClient(databaseUrl)
    ))
