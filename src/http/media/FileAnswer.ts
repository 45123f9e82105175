import { Effect, Stream } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { MediaFiles, ShownFile } from "../../domain/media/MediaFiles.ts"
import { dispositionOf, typeNamed } from "../../domain/media/MediaSettings.ts"
import type { ByteRange } from "../../domain/media/MediaStorage.ts"
import { envelope } from "../server/Failure.ts"

/** The requested range: the whole file, a part of it, or a part beyond its end. */
type AskedRange = ByteRange | "whole" | "beyond"

/** A `Range` of one part (RFC 9110 §14). Several parts, other units and invalid ones: the whole file. */
const rangeOf = (sent: string | undefined, size: number): AskedRange => {
  const found = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(sent?.trim() ?? "")
  if (found === null) return "whole"
  const [, first = "", last = ""] = found
  if (first === "" && last === "") return "whole"
  if (first === "") return last === "0" ? "beyond" : { start: Math.max(0, size - Number(last)), end: size - 1 }
  const [start, end] = [Number(first), last === "" ? size - 1 : Math.min(Number(last), size - 1)]
  if (start >= size) return "beyond"
  return end < start ? "whole" : { start, end }
}

/** The bytes under an address never change, so their hash is the tag. */
const tagOf = ({ digest }: ShownFile): string => `"${digest.slice(0, 32)}"`

const isKnown = (sent: string | undefined, tag: string): boolean =>
  sent !== undefined && sent.split(",").some((one) => ["*", tag, `W/${tag}`].includes(one.trim()))

const cacheControlOf = ({ audience, isDerived, seconds }: ShownFile): string => {
  if (audience === "actor") return "private, no-cache"
  if (audience === "holder") return `private, max-age=${seconds}`
  return `public, max-age=${seconds}${isDerived ? ", immutable" : ""}`
}

/** No file runs scripts in the name of this host; types that might are sandboxed. */
const policyOf = ({ contentType }: ShownFile): string =>
  typeNamed(contentType)?.isActive === false
    ? "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
    : "default-src 'none'; sandbox; frame-ancestors 'none'"

const headersOf = (file: ShownFile): Record<string, string> => ({
  etag: tagOf(file),
  "cache-control": cacheControlOf(file),
  "accept-ranges": "bytes",
  "content-disposition": dispositionOf(file.contentType, file.filename),
  "content-security-policy": policyOf(file),
  "x-content-type-options": "nosniff",
  // Storefronts show pictures of an API on another host.
  "cross-origin-resource-policy": "cross-origin"
})

type Request = HttpServerRequest.HttpServerRequest

/** A range applies only if the client has a part of this file. */
const askedRange = ({ headers }: Request, file: ShownFile): AskedRange => {
  const condition = headers["if-range"]
  return condition !== undefined && condition !== tagOf(file) ? "whole" : rangeOf(headers["range"], file.size)
}

/** The response with a file that the caller may see: 200, 206, 304 or 416. */
export const fileAnswer = Effect.fnUntraced(
  function*(request: Request, file: ShownFile, read: MediaFiles["Service"]["read"]) {
    const headers = headersOf(file)
    if (isKnown(request.headers["if-none-match"], tagOf(file))) {
      return HttpServerResponse.empty({ status: 304, headers })
    }
    const asked = askedRange(request, file)
    if (asked === "beyond") {
      return envelope(416, { "content-range": `bytes */${file.size}`, "cache-control": "no-store" })
    }
    const range = asked === "whole" ? undefined : asked
    const part = range === undefined ? {} : { "content-range": `bytes ${range.start}-${range.end}/${file.size}` }
    const contentLength = range === undefined ? file.size : range.end - range.start + 1
    const { contentType } = file
    // HEAD opens no file.
    const bytes = request.method === "HEAD" ? Stream.empty : yield* read(file, range)
    return HttpServerResponse.stream(bytes, {
      status: range === undefined ? 200 : 206,
      contentType,
      contentLength,
      headers: { ...headers, ...part }
    })
  }
)
