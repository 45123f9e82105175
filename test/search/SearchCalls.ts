import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { api, asAdmin } from "../support/TestApp.ts"

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
