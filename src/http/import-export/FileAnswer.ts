import { Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { ExportFile } from "../../workflows/import-export/ExportFiles.ts"

/** A file that is sent while it is written. A failure in the midst of it cuts the connection, so that nobody takes it for whole. */
export const fileAnswer = ({ contentType, name, text }: ExportFile) =>
  HttpServerResponse.stream(Stream.encodeText(text), {
    contentType,
    headers: { "content-disposition": `attachment; filename="${name}"`, "cache-control": "no-store" }
  })
