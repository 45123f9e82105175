import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Actor } from "../../src/domain/platform/access/Actor.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { sharedClient } from "../support/SharedClients.ts"
import { type Answer, api, asAdmin, asCustomer, TestApp } from "../support/TestApp.ts"

export const entities = "/api/catalog/entities"
export const categories = "/api/catalog/categories"
export const brands = "/api/catalog/brands"

export const shopper = asCustomer("shopper-1")

/** Makes something as the administrator. */
export const created = Effect.fnUntraced(function*(path: string, body: unknown) {
  const answer = yield* api("POST", path, { as: asAdmin, ...(body === undefined ? {} : { body }) })
  assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
  return answer
})

/** Creates an entity of type product with a unique slug, unless the body says otherwise. */
export const make = Effect.fnUntraced(function*(body: object) {
  const data = yield* created(entities, { type: "product", slug: newId(), ...body })
  return { id: data.text("data.id"), slug: data.text("data.slug"), data }
})

/** This field of each record of a list. */
export const each = (answer: Answer, field: string, list = "data"): ReadonlyArray<unknown> =>
  answer.list(list).map((_, n) => answer.at(`${list}.${n}.${field}`))

const codes: Readonly<Record<number, string>> = {
  400: "BAD_REQUEST",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  409: "CONFLICT",
  422: "VALIDATION_FAILED"
}

/** Sends as the administrator or as given (undefined: without credentials) and expects this refusal, with its code. */
export const refused = Effect.fnUntraced(function*(
  method: string,
  path: string,
  body: unknown,
  status: keyof typeof codes,
  ...actor: ReadonlyArray<Partial<Actor> | undefined>
) {
  const as = actor.length === 0 ? asAdmin : actor[0]
  const answer = yield* api(method, path, {
    ...(body === undefined ? {} : { body }),
    ...(as === undefined ? {} : { as })
  })
  assert.deepStrictEqual([answer.status, answer.at("error.code")], [status, codes[status]], `${method} ${path}`)
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

/** A search, as the administrator unless said otherwise, that succeeds: what it found by slug, and its figures. */
export const searching = Effect.fnUntraced(function*(query: string, as: typeof asAdmin | "visitor" = asAdmin) {
  const answer = yield* api("GET", `/api/search?${query}`, as === "visitor" ? {} : { as })
  assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
  const slugs = answer.list("data").map((_, n) => answer.text(`data.${n}.document.slug`))
  return { answer, slugs, total: answer.number("meta.total"), facets: answer.at("meta.facets") }
})

/** Suggestions for the rest of a query string that begins with `prefix=`. */
export const suggested = Effect.fnUntraced(function*(query: string, as: typeof asAdmin | "visitor" = asAdmin) {
  const answer = yield* api("GET", `/api/search/suggest?${query}`, as === "visitor" ? {} : { as })
  assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
  assert.deepStrictEqual(Object.keys(answer.body as object), ["data"])
  return answer.list("data")
})

/** Changes something as the administrator and gives the answer. */
export const change = Effect.fnUntraced(function*(method: string, path: string, body?: unknown) {
  const answer = yield* api(method, path, { as: asAdmin, ...(body === undefined ? {} : { body }) })
  assert.include([200, 201], answer.status, JSON.stringify(answer.body))
  return answer
})
