import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import {
  ChangedRow,
  ExportFormat,
  exporting,
  FileEncoding,
  Import,
  ImportFormat,
  importing,
  ImportState,
  Kind,
  RefusedRow,
  WarnedRow
} from "../../domain/import-export/Import.ts"
import { Access, anyOf } from "../../domain/platform/access/AccessRule.ts"
import { ImportId } from "../../domain/platform/ids/Id.ts"
import { CurrencyCode } from "../../domain/platform/money/Money.ts"
import { pageQuery } from "../../domain/platform/paging/Paging.ts"
import { Text } from "../../domain/platform/text/Storable.ts"
import { guarded, summary } from "../endpoint/Resource.ts"
import { Data, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { Errors, parseOptions } from "../middleware/Errors.ts"
import { OwnIdempotency } from "../middleware/Idempotency.ts"

const File = HttpApiSchema.StreamUint8Array({
  contentType: [
    "text/csv",
    "text/tab-separated-values",
    // Browsers say so of CSV files where a spreadsheet program is installed.
    "application/vnd.ms-excel",
    "application/x-ndjson",
    "application/jsonl",
    "application/json",
    "application/octet-stream",
    "text/plain"
  ]
})

const Flag = Schema.Literals(["true", "false"])

/** What may be sent with a file: as parameters, or as fields of a form. */
export const sent = Schema.Struct({
  kind: Schema.optional(Kind.annotate({ description: "Kind of the records in the file. Default: catalog." })),
  format: Schema.optional(ImportFormat.annotate({
    description: "How it is written. Default: as `Content-Type` or the name of the file says, `csv` or `jsonl`."
  })),
  encoding: Schema.optional(FileEncoding.annotate({
    description:
      "Encoding of the text. Default: UTF-8 or UTF-16, as the bytes say. A mark at its beginning counts before it."
  })),
  dryRun: Schema.optional(
    Flag.annotate({ description: "True: the answer says what would happen, and nothing changes." })
  ),
  fileName: Schema.optional(Text),
  currency: Schema.optional(CurrencyCode.annotate({
    description: "Of prices in the formats of other shops, which name none. Default: the store's."
  })),
  pictures: Schema.optional(Flag.annotate({
    description: "True: pictures that files of other shops name are fetched and attached. Default: if the caller " +
      "may upload media and the deployment keeps files."
  })),
  warehouse: Schema.optional(Text.annotate({
    description: "Code of the warehouse of stock that names none. Default: the first one."
  }))
})
export type SentQuery = typeof sent.Type

const Form = Schema.Struct({
  ...sent.fields,
  file: Schema.String.annotate({ format: "binary", description: "The file, behind the other fields." })
}).annotate({ identifier: "ImportForm" })

const params = { id: ImportId }

/** Imports (docs/import-export.md). The handler checks the permission for a kind. */
export const ImportsGroup = guarded(
  "imports",
  HttpApiEndpoint.post("create", "/api/imports", {
    query: sent.fields,
    payload: [File, Form.pipe(HttpApiSchema.asMultipartStream())],
    success: Data(Import).pipe(HttpApiSchema.status(202))
  })
    .annotate(OwnIdempotency, true)
    .annotateMerge(
      summary(
        "Import a file",
        "The body is the file, or a form with a `file`. It is read while it arrives and worked on in the background. 413 when it, or " +
          "a line of it, is too large; 422 when it cannot be read at all. Records that are wrong are refused one by one."
      )
    ),
  HttpApiEndpoint.get("list", "/api/imports", {
    query: { ...pageQuery, kind: Schema.optional(Kind), state: Schema.optional(ImportState) },
    success: Page(Import)
  })
    .annotateMerge(summary("List imports, newest first")),
  HttpApiEndpoint.get("get", "/api/imports/:id", { params, success: Data(Import) })
    .annotateMerge(summary("Get an import and its progress")),
  HttpApiEndpoint.get("refusals", "/api/imports/:id/refusals", { params, query: pageQuery, success: Page(RefusedRow) })
    .annotateMerge(summary("List refused records with reasons")),
  HttpApiEndpoint.get("report", "/api/imports/:id/refusals.csv", {
    params,
    success: HttpApiSchema.StreamUint8Array({ contentType: "text/csv" })
  })
    .annotateMerge(summary("Download refused records as a file")),
  HttpApiEndpoint.get("warnings", "/api/imports/:id/warnings", { params, query: pageQuery, success: Page(WarnedRow) })
    .annotateMerge(
      summary(
        "List records with warnings",
        "They stopped nothing, for example stock of goods that are not counted, which was passed over."
      )
    ),
  HttpApiEndpoint.get("changes", "/api/imports/:id/changes", { params, query: pageQuery, success: Page(ChangedRow) })
    .annotateMerge(
      summary(
        "List records that a dry run would create or change",
        "With their lines and what would change; none of other imports."
      )
    ),
  HttpApiEndpoint.post("cancel", "/api/imports/:id/cancel", { params, success: Data(Import) })
    .annotateMerge(
      summary(
        "Cancel an import",
        "After the batch that is being worked on; what was done stays done. 409 when it is over."
      )
    )
).annotateEndpoints(Access, anyOf(...importing))

export const ExportsGroup = HttpApiGroup.make("exports").add(
  HttpApiEndpoint.get("download", "/api/exports/:kind", {
    params: { kind: Kind },
    query: { format: Schema.optional(ExportFormat.annotate({ description: "`csv`, the default, or `jsonl`." })) },
    success: HttpApiSchema.StreamUint8Array({ contentType: ["text/csv", "application/x-ndjson"] })
  })
    .annotate(Access, anyOf(...exporting))
    .annotateMerge(
      summary(
        "Download all records of a kind",
        "The answer is written while it is read, so it may be of any size. Each kind needs the permission " +
          "of its lists. The audit trail notes who read what."
      )
    )
)
  .annotateMerge(parseOptions)
  .middleware(Errors).middleware(AccessControl)
