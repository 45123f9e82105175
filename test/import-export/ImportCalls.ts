import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type Answer, api, asAdmin, TestApp } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"

/** What an upload says beside the file. */
export interface Upload {
  readonly query?: string
  readonly type?: string
  readonly as?: typeof asAdmin
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a file. */
export const upload = (file: string, { as = asAdmin, headers = {}, query = "", type = "text/csv" }: Upload = {}) =>
  api("POST", `/api/imports?${query}`, { as, body: file, headers: { "content-type": type, ...headers } })

/** The import as it is when it is over. */
export const ended = Effect.fnUntraced(function*(id: string, as = asAdmin) {
  const app = yield* TestApp
  const check = async () => {
    const answer = await Effect.runPromise(app.api("GET", `/api/imports/${id}`, { as }))
    return ["receiving", "queued", "running"].includes(answer.text("data.state")) ? undefined : answer
  }
  return yield* Effect.promise(() => waitFor(`the end of import ${id}`, check, 60_000))
})

/** Sends a file that must be taken, and gives the import at its end. */
export const imported = Effect.fnUntraced(function*(file: string, sent: Upload = {}) {
  const answer = yield* upload(file, sent)
  assert.strictEqual(answer.status, 202, JSON.stringify(answer.body))
  return yield* ended(answer.text("data.id"), sent.as)
})

/** Lines of JSON. */
export const jsonl = (...records: ReadonlyArray<object>) => records.map((record) => JSON.stringify(record)).join("\n")

/** The counts of an import: created, updated, unchanged, refused. */
export const counts = (answer: Answer) =>
  ["created", "updated", "unchanged", "refused"].map((name) => answer.number(`data.${name}`))

/** The reasons of an import's refusals, by their lines. */
export const reasons = Effect.fnUntraced(function*(id: string, as = asAdmin) {
  const answer = yield* api("GET", `/api/imports/${id}/refusals?limit=100`, { as })
  return answer.list("data").map((_, index) =>
    `${answer.number(`data.${index}.line`)}: ${
      [answer.at(`data.${index}.issues.0.path`), answer.at(`data.${index}.issues.0.message`)].join(" ")
    }`
  )
})

/** Everything of a kind, as text. */
export const exported = Effect.fnUntraced(function*(kind: string, format = "csv", as = asAdmin) {
  const { url } = yield* TestApp
  const headers = { "x-test-actor": JSON.stringify(as) }
  return yield* Effect.promise(async () => {
    const response = await fetch(`${url}/api/exports/${kind}?format=${format}`, { headers })
    assert.strictEqual(response.status, 200)
    return response.text()
  })
})
