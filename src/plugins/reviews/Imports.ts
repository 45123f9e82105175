import { Array, DateTime, Effect, Schema } from "effect"
import { invalid, type PluginCall, readCsv } from "stoa/plugin"
import { productColumns, productNames, type Products, readRow, type RefusedRow, warningsOf } from "./ImportFile.ts"
import { countImported, customersBy, insertImported, productsOf } from "./ImportsRepo.ts"
import type { Review } from "./Review.ts"
import { announce } from "./Reviews.ts"

type Tools = Pick<PluginCall, "db" | "jobs" | "services">

class NoProductColumn extends invalid(
  "NoProductColumn",
  "file",
  "file must have one of the columns product_handle, product_sku and product_id."
) {}

/** Rows that are written together. */
const pageRows = 500

export const ImportQuery = {
  dryRun: Schema.optional(
    Schema.Literals(["true", "false"]).annotate({ description: "`true`: says what would happen, and writes nothing." })
  ),
  status: Schema.optional(
    Schema.Literals(["pending", "approved"]).annotate({
      description: "Of reviews whose `curated` is neither `ok` nor `spam`. Default: pending."
    })
  )
}

interface Page {
  readonly created: number
  readonly skipped: number
  readonly refused: ReadonlyArray<RefusedRow>
}

const findProducts = Effect.fnUntraced(function*({ db }: Tools, rows: Parameters<typeof productNames>[0]) {
  const found = yield* db.use(productsOf)(productNames(rows))
  const named = found.flatMap(({ id, skus, slug }) => [
    [`product_handle ${slug}`, id] as const,
    ...[...new Set(skus)].map((sku) => [`product_sku ${sku}`, id] as const),
    [`product_id ${id}`, id] as const
  ])
  // A SKU of several products names none of them.
  const matches = Map.groupBy(named, ([name]) => name)
  return new Map(
    [...matches].flatMap(([name, [one, other]]) => one && !other ? [[name, one[1]] as const] : [])
  ) satisfies Products
})

/** The customer of each address that belongs to one. */
const findCustomers = Effect.fnUntraced(function*({ db }: Tools, emails: ReadonlyArray<string>) {
  const found = Map.groupBy(yield* db.use(customersBy)([...new Set(emails)]), ({ email }) => email)
  return new Map([...found].flatMap(([email, [one, other]]) => one && !other ? [[email, one.id] as const] : []))
})

/** Writes the reviews of a page in as many statements for 500 rows as for one. */
const importPage = Effect.fnUntraced(function*(
  tools: Tools,
  rows: Parameters<typeof productNames>[0],
  { seen, ...options }: { readonly now: Date; readonly status: Review["status"]; readonly seen: Set<string> }
) {
  // Two files that name the same reviews in another order would wait for each other.
  yield* tools.db.turn("imports")
  const products = yield* findProducts(tools, rows)
  const [read, refused] = yield* Effect.partition(rows, (row) => readRow(row, { ...options, products }))
  const customers = yield* findCustomers(tools, read.flatMap(({ email }) => email ?? []))
  const fresh = read.flatMap(({ email = "", ...review }) => {
    const customerId = customers.get(email) ?? null
    const marks = [review.importKey, ...(customerId === null ? [] : [`${customerId} ${review.entityId}`])]
    const isRepeated = marks.some((mark) => seen.has(mark))
    for (const mark of marks) seen.add(mark)
    return isRepeated ? [] : [{ ...review, customerId }]
  })
  const made = yield* tools.db.use(insertImported)(fresh)
  if (made.length > 0) {
    yield* tools.db.use(countImported)(made.map(({ id }) => id))
    yield* announce(tools, "imported", ...made)
    yield* tools.services.search.changed(
      made.flatMap(({ entityId, status }) => status === "approved" ? [entityId] : [])
    )
  }
  return { created: made.length, skipped: read.length - made.length, refused } satisfies Page
})

/**
 * Imports the reviews of a CSV file in pages, each in a transaction: a file that is sent again, also after a process has ended
 * between two pages, brings what is not there yet. 422 for a file that cannot be read.
 */
export const importReviews = Effect.fn("Reviews.import")(function*(
  tools: Tools,
  body: Uint8Array,
  { dryRun, status = "pending" }: Schema.Struct<typeof ImportQuery>["Type"]
) {
  const file = yield* readCsv(body, ["rating"])
  if (!productColumns.some((name) => file.header.includes(name))) return yield* new NoProductColumn()
  const options = { now: yield* DateTime.nowAsDate, status, seen: new Set<string>() }
  const pages = yield* Effect.forEach(Array.chunksOf(file.rows, pageRows), (rows) => {
    const work = importPage(tools, rows, options)
    // A transaction that fails takes everything back.
    return dryRun === "true" ? Effect.flip(tools.db.transaction(Effect.flip(work))) : tools.db.transaction(work)
  })
  const sumOf = (name: "created" | "skipped") => pages.reduce((sum, page) => sum + page[name], 0)
  return {
    created: sumOf("created"),
    skipped: sumOf("skipped"),
    refused: pages.flatMap(({ refused }) => refused),
    warnings: warningsOf(file)
  }
})
