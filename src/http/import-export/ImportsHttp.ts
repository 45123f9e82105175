import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import {
  formatOfName,
  ImportExportSettings,
  type ImportFormat,
  type ImportOptions,
  isExternal
} from "../../domain/import-export/Import.ts"
import { Imports } from "../../domain/import-export/Imports.ts"
import { invalid } from "../../domain/platform/errors/ErrorKinds.ts"
import { pageOf } from "../../domain/platform/paging/Paging.ts"
import { type ExportFile, ExportFiles } from "../../workflows/import-export/ExportFiles.ts"
import { ImportUploads } from "../../workflows/import-export/ImportUploads.ts"
import { isForm, mediaType, receiveForm, type SentFile } from "./ImportForm.ts"
import { ExportsGroup, ImportsGroup, type SentQuery } from "./ImportsApi.ts"

class FormatMissing extends invalid(
  "FormatMissing",
  "format",
  "is required: csv, jsonl, shopify, woocommerce, square or magento.",
  "required"
) {}

const byType: ReadonlyMap<string, ImportFormat> = new Map([
  ["text/csv", "csv"],
  ["text/tab-separated-values", "csv"],
  ["application/x-ndjson", "jsonl"],
  ["application/jsonl", "jsonl"]
])

/** A type that tells less than the name of the file. */
const spreadsheets: ReadonlyMap<string, ImportFormat> = new Map([["application/vnd.ms-excel", "csv"]])

type Headers = Readonly<Record<string, string | undefined>>

class KindNotCatalog extends invalid(
  "KindNotCatalog",
  "kind",
  (format: ImportFormat) => `must be catalog: files of ${format} describe products.`
) {}
class KeyLength extends invalid("KeyLength", "Idempotency-Key", "must have 8 to 255 characters.", "format") {}

const optionsOf = Effect.fnUntraced(function*({ type, ...query }: SentQuery & { readonly type: string }) {
  const format = query.format ?? byType.get(type) ?? formatOfName(query.fileName ?? "") ?? spreadsheets.get(type)
  if (format === undefined) return yield* new FormatMissing()
  const kind = query.kind ?? "catalog"
  if (isExternal(format) && kind !== "catalog") return yield* new KindNotCatalog(format)
  const options: ImportOptions = {
    kind,
    format,
    fileName: query.fileName ?? null,
    dryRun: query.dryRun === "true",
    currency: query.currency ?? null,
    warehouse: query.warehouse ?? null,
    pictures: query.pictures === undefined ? undefined : query.pictures === "true",
    encoding: query.encoding
  }
  return options
})

const sentKey = Effect.fnUntraced(function*(headers: Headers) {
  const key = headers["idempotency-key"] ?? null
  if (key !== null && (key.length < 8 || key.length > 255)) return yield* new KeyLength()
  return key
})

/** Streams a file. A failure cuts the connection: a partial file must not look whole. */
const fileAnswer = ({ contentType, name, text }: ExportFile) =>
  HttpServerResponse.stream(Stream.encodeText(text), {
    contentType,
    headers: { "content-disposition": `attachment; filename="${name}"`, "cache-control": "no-store" }
  })

export const importsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(ImportsGroup),
  "imports",
  Effect.fnUntraced(function*(handlers) {
    const imports = yield* Imports
    const uploads = yield* ImportUploads
    const files = yield* ExportFiles
    const { maxFileBytes } = yield* ImportExportSettings
    return handlers.handleAll({
      create: Effect.fnUntraced(function*({ payload, query, request }) {
        const key = yield* sentKey(request.headers)
        const receive = Effect.fnUntraced(function*({ bytes, ...sent }: SentFile) {
          return yield* uploads.receive(yield* optionsOf(sent), bytes, key)
        })
        return yield* isForm(payload, request)
          ? receiveForm(payload, query, maxFileBytes, receive)
          : receive({ ...query, type: mediaType(request.headers["content-type"]), bytes: payload })
      }),
      list: ({ query }) => imports.list(query, pageOf(query)),
      get: ({ params }) => imports.get(params.id),
      refusals: ({ params, query }) => imports.refusals(params.id, pageOf(query)),
      warnings: ({ params, query }) => imports.warnings(params.id, pageOf(query)),
      changes: ({ params, query }) => imports.changes(params.id, pageOf(query)),
      report: ({ params }) => Effect.map(files.report(params.id), fileAnswer),
      cancel: ({ params }) => imports.cancel(params.id)
    })
  })
)

export const exportsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(ExportsGroup),
  "exports",
  Effect.fnUntraced(function*(handlers) {
    const files = yield* ExportFiles
    return handlers.handleAll({
      download: ({ params, query }) => Effect.map(files.write(params.kind, query.format ?? "csv"), fileAnswer)
    })
  })
)
