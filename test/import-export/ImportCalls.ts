import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { anOrganization } from "../support/Organizations.ts"
import { type Answer, api, asAdmin, TestApp } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"

/** An upload besides its file. */
export interface Upload {
  readonly query?: string
  readonly type?: string
  readonly as?: typeof asAdmin
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a file. */
export const upload = (file: string, { as = asAdmin, headers = {}, query = "", type = "text/csv" }: Upload = {}) =>
  api("POST", `/api/imports?${query}`, { as, body: file, headers: { "content-type": type, ...headers } })

/** The import after its end. */
export const ended = Effect.fnUntraced(function*(id: string, as = asAdmin) {
  const app = yield* TestApp
  const check = async () => {
    const answer = await Effect.runPromise(app.api("GET", `/api/imports/${id}`, { as }))
    return ["receiving", "queued", "running"].includes(answer.text("data.state")) ? undefined : answer
  }
  return yield* Effect.promise(() => waitFor(`the end of import ${id}`, check, 60_000))
})

/** Sends a file that is accepted, and returns the import after its end. */
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

/** The reasons of an import's refusals with their lines. */
export const reasons = Effect.fnUntraced(function*(id: string, as = asAdmin) {
  const answer = yield* api("GET", `/api/imports/${id}/refusals?limit=100`, { as })
  return answer.list("data").map((_, index) =>
    `${answer.number(`data.${index}.line`)}: ${
      [answer.at(`data.${index}.issues.0.path`), answer.at(`data.${index}.issues.0.message`)].join(" ")
    }`
  )
})

/** The export of a kind, as text. */
export const exported = Effect.fnUntraced(function*(kind: string, format = "csv", as = asAdmin) {
  const { url } = yield* TestApp
  const headers = { "x-test-actor": JSON.stringify(as) }
  return yield* Effect.promise(async () => {
    const response = await fetch(`${url}/api/exports/${kind}?format=${format}`, { headers })
    assert.strictEqual(response.status, 200)
    return response.text()
  })
})

/** An organization that no other test uses, with its administrator's requests. */
export const aStore = Effect.map(anOrganization, (as) => ({
  as,
  get: (path: string) => api("GET", `/api/${path}`, { as }),
  /** The counts of an import, and the reasons of its refusals. */
  send: Effect.fnUntraced(function*(file: string, query = "format=jsonl") {
    const done = yield* imported(file, { as, query })
    return [...counts(done), ...yield* reasons(done.text("data.id"), as)]
  }),
  exported: (kind = "catalog", format = "jsonl") => exported(kind, format, as)
}))
export type Store = Effect.Success<typeof aStore>

/** Imports the exports of a store into another one in both formats; the export of that is the same. */
export const expectRoundTrip = Effect.fnUntraced(function*(from: Store, to: Store, kind = "catalog") {
  for (const format of ["csv", "jsonl"]) {
    const whole = yield* from.exported(kind, format)
    const [, , , refused, ...why] = yield* to.send(whole, `kind=${kind}&format=${format}`)
    assert.deepStrictEqual([refused, ...why], [0])
    assert.strictEqual(yield* to.exported(kind, format), whole)
  }
})

/** What `send` of a store returns: counts of created, updated, unchanged and refused records, and reasons. */
export const withReasons = (counted: ReadonlyArray<number>, ...why: ReadonlyArray<string>) => [...counted, ...why]
