import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
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
  return yield* Effect.promise(() => waitFor(`the end of import ${id}`, check))
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

/** An order of another system: two lines of 10.00 and 5.00, 3.00 off, 2.00 shipping, 1.20 tax on top; paid and sent. */
export const anOldOrder = (orderNumber: string, changes: object = {}) => ({
  orderNumber,
  status: "fulfilled",
  placedAt: "2021-03-04T05:06:07.089Z",
  email: "buyer@home.example",
  currency: "EUR",
  discountTotal: 300,
  shippingTotal: 200,
  taxTotal: 120,
  grandTotal: 2520,
  amountCaptured: 2520,
  lineItems: [
    { sku: "OLD-1", title: "Mug", quantity: 2, unitPrice: 1000 },
    { title: "Card", quantity: 1, unitPrice: 500, taxAmount: null }
  ],
  ...changes
})

/** Sends orders as lines of JSON. */
export const importedOrders = (
  orders: ReadonlyArray<object>,
  sent: { readonly as?: object; readonly query?: string } = {}
) => imported(jsonl(...orders), { ...sent, query: `kind=orders&format=jsonl${sent.query ?? ""}` })

/** A line of a product's pictures: address, and what it shows. */
export type Line = readonly [src: string, alt?: string]

/** A product of Shopify's export with these pictures. */
export const shopifyFile = (slug: string, ...pictures: ReadonlyArray<Line>): string =>
  [
    "Handle,Title,Published,Option1 Name,Option1 Value,Variant Price,Image Src,Image Alt Text,Status",
    ...pictures.map(([src, alt = ""], index) =>
      index === 0
        ? `${slug},A ${slug},true,Title,Default Title,5,${src},${alt},active`
        : `${slug},,,,,,${src},${alt},`
    )
  ].join("\n")

/** What a product shows: role, place, and what is said of it. */
export const shownBy = (slug: string) =>
  Effect.map(
    api("GET", `/api/catalog/entities/${slug}?include=media`, { as: asAdmin }),
    (answer) =>
      answer.list("data.media").map((_, index) => [
        answer.at(`data.media.${index}.role`),
        answer.at(`data.media.${index}.sortOrder`),
        answer.at(`data.media.${index}.alt`)
      ])
  )

/** How many jobs of pictures have which state. */
export const jobs = onDatabase((sql) =>
  Effect.map(
    sql<{ status: string; n: number }>`select status, count(*)::int4 as n from commerce_jobs
      where task_slug = 'media/fetch-picture' group by status`,
    (rows) => Object.fromEntries(rows.map(({ n, status }) => [status, n]))
  )
)

/** Waits until no job of a picture is open; one that waits for its next try is. */
export const atRest = eventually(
  "the jobs of pictures to end",
  Effect.map(jobs, ({ pending = 0, processing = 0 }) => pending + processing === 0)
)

/** Why jobs of pictures failed, as an operator reads it. */
export const failures = Effect.map(
  api("GET", "/api/admin/jobs/failed?limit=100", { as: asAdmin }),
  (answer) => answer.list("data").map((_, index) => answer.text(`data.${index}.error`)).toSorted()
)

/** Pictures by their state, and what media there are. */
export const kept = onDatabase((sql) =>
  Effect.map(
    sql<{ waiting: number; attached: number; refused: number; assets: number; links: number }>`select
      (count(*) filter (where state = 'waiting'))::int4 as waiting,
      (count(*) filter (where state = 'attached'))::int4 as attached,
      (count(*) filter (where state = 'refused'))::int4 as refused,
      (select count(*)::int4 from media_assets) as assets, (select count(*)::int4 from entity_media) as links
      from external_pictures`,
    ([row]) => row
  )
)
