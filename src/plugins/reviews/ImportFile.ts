import { Effect, Option, Schema } from "effect"
import { createHash } from "node:crypto"
import { type CsvFile, emailKey, EntityId, SentMoment, timeIn } from "stoa/plugin"
import type { Review } from "./Review.ts"

/** A row that is not imported, with a sentence. */
export interface RefusedRow {
  readonly line: number
  readonly message: string
}

type CsvRow = CsvFile["rows"][number]
type Cells = CsvRow["cells"]

/** Columns that name the product of a row; the first one that names an entity counts. */
export const productColumns = ["product_handle", "product_sku", "product_id"] as const

/** Columns of texts with how many characters they may have. */
const texts = { title: 255, body: 10_000, reviewer_name: 255, reply: 10_000 } as const

const readColumns = ["rating", "curated", "review_date", "reply_date", "reviewer_email", "picture_urls"]
/** Columns of exports of Judge.me that a review has no use for. */
const unusedColumns = ["source", "ip_address", "location", "metaobject_handle"]
const known: ReadonlySet<string> = new Set([
  ...productColumns,
  ...Object.keys(texts),
  ...readColumns,
  ...unusedColumns
])

/** Sentences about what a file has and the import leaves out. */
export const warningsOf = ({ header, rows }: CsvFile): ReadonlyArray<string> => {
  const unknown = header.filter((name) => !known.has(name))
  const withPictures = rows.filter(({ cells }) => cells.has("picture_urls")).length
  return [
    ...unknown.map((name) => `The column "${name}" is not known and was ignored.`),
    ...(withPictures === 0 ? [] : [`Pictures are not imported. Rows with picture_urls: ${withPictures}.`])
  ]
}

const readId = Schema.decodeOption(EntityId)

/** Names by which a file's products are looked up. */
export const productNames = (rows: ReadonlyArray<CsvRow>) => {
  const [handles, skus, ids] = productColumns.map((name) => [
    ...new Set(rows.flatMap(({ cells }) => cells.get(name) ?? []))
  ])
  return { handles: handles ?? [], skus: skus ?? [], ids: (ids ?? []).flatMap((id) => Option.toArray(readId(id))) }
}

/** Entities by column and value: `product_handle honey`. */
export type Products = ReadonlyMap<string, EntityId>

const productOf = (products: Products, cells: Cells): EntityId | undefined => {
  const [found] = productColumns.flatMap((name) => {
    const value = cells.get(name) ?? ""
    return products.get(`${name} ${name === "product_id" ? value.toLowerCase() : value}`) ?? []
  })
  return found
}

/** `2025-03-02 10:12:00 UTC` as ISO 8601 has it. */
const isoOf = (text: string) => text.trim().replace(/ ?UTC$/, "Z").replace(/ (?=[+-]\d)/, "").replace(" ", "T")

const statuses: Readonly<Record<string, Review["status"]>> = { ok: "approved", spam: "rejected" }

export interface RowOptions {
  readonly now: Date
  /** Of rows that are not curated. */
  readonly status: Review["status"]
  readonly products: Products
}

/** A row as a review; fails with the reason why it cannot be one. */
export const readRow = Effect.fnUntraced(function*({ cells, line, problem }: CsvRow, options: RowOptions) {
  const refuse = (message: string) => Effect.fail<RefusedRow>({ line, message })
  const momentIn = Effect.fnUntraced(function*(name: string) {
    const text = isoOf(cells.get(name) ?? "")
    if (text === "") return null
    if (!Schema.is(SentMoment)(text)) return yield* refuse(`${name} must be a date such as 2025-03-02 10:12:00 UTC.`)
    const at = yield* timeIn(undefined, text, "beginning")
    return at > options.now ? yield* refuse(`${name} must not be in the future.`) : at
  })
  if (problem !== null) return yield* refuse(problem)
  const rating = Number(cells.get("rating"))
  if (![1, 2, 3, 4, 5].includes(rating)) return yield* refuse("rating must be a whole number from 1 to 5.")
  const long = Object.entries(texts).find(([name, most]) => (cells.get(name) ?? "").length > most)
  if (long !== undefined) return yield* refuse(`${long[0]} must have at most ${long[1]} characters.`)
  const entityId = productOf(options.products, cells)
  if (entityId === undefined) {
    return yield* refuse("One of product_handle, product_sku and product_id must name one product of the catalog.")
  }
  const createdAt = yield* momentIn("review_date")
  const responseAt = yield* momentIn("reply_date")
  const [title = null, body = null, authorName = null, response = null] = Object.keys(texts).map((name) =>
    cells.get(name)
  )
  const recognized = [entityId, authorName, isoOf(cells.get("review_date") ?? ""), rating, title, body]
  return {
    entityId,
    rating,
    title,
    body,
    authorName,
    response,
    responseAt: response === null ? null : responseAt,
    status: statuses[cells.get("curated") ?? ""] ?? options.status,
    createdAt: createdAt ?? options.now,
    importKey: createHash("sha256").update(JSON.stringify(recognized)).digest("hex"),
    /** Finds the customer, and is not stored. */
    email: emailKey(cells.get("reviewer_email") ?? "") || undefined
  }
})

export type ImportedReview = Effect.Success<ReturnType<typeof readRow>>
