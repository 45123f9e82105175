import { Effect } from "effect"
import { ValidationFailed } from "../../domain/errors/ApiErrors.ts"
import type { ImportOptions } from "../../domain/import-export/Import.ts"
import { type ImportFormat, isExternal, type Kind } from "../../domain/import-export/Kind.ts"

type Headers = Readonly<Record<string, string | undefined>>

/** The query of an upload. */
interface SentQuery {
  readonly kind?: Kind | undefined
  readonly format?: ImportFormat | undefined
  readonly dryRun?: "true" | "false" | undefined
  readonly fileName?: string | undefined
  readonly currency?: string | undefined
  readonly warehouse?: string | undefined
  readonly pictures?: "true" | "false" | undefined
}

const byType: ReadonlyMap<string, ImportFormat> = new Map([
  ["text/csv", "csv"],
  ["application/x-ndjson", "jsonl"],
  ["application/jsonl", "jsonl"]
])

const typeOf = (headers: Headers): string => (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? ""

/** What is asked for; 422 where neither the query nor the content type says how the file is written. */
export const sentImport = Effect.fnUntraced(function*(query: SentQuery, headers: Headers, ownCurrency: string) {
  const format = query.format ?? byType.get(typeOf(headers))
  if (format === undefined) {
    return yield* ValidationFailed.of("format", "is missing: csv, jsonl, shopify or woocommerce")
  }
  const kind = query.kind ?? "catalog"
  if (isExternal(format) && kind !== "catalog") {
    return yield* ValidationFailed.of("kind", `must be catalog: files of ${format} describe products`)
  }
  const options: ImportOptions = {
    kind,
    format,
    fileName: query.fileName ?? null,
    dryRun: query.dryRun === "true",
    currency: query.currency ?? (isExternal(format) ? ownCurrency : null),
    warehouse: query.warehouse ?? null,
    pictures: query.pictures === undefined ? undefined : query.pictures === "true"
  }
  return options
})

/** The `Idempotency-Key` of an upload; null without one. */
export const sentKey = Effect.fnUntraced(function*(headers: Headers) {
  const key = headers["idempotency-key"] ?? null
  if (key !== null && (key.length < 8 || key.length > 255)) {
    return yield* ValidationFailed.of("Idempotency-Key", "must have 8 to 255 characters")
  }
  return key
})
