import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { gzip } from "node:zlib"

const compress = promisify(gzip)

/** A document changes with the version of the service alone; later requests revalidate it. */
const cacheControl = "public, max-age=300"

/** Whether a client takes gzip; a quality of 0 refuses it. */
const takesGzip = (accepted = ""): boolean =>
  accepted.toLowerCase().split(",").some((one) => {
    const [coding = "", ...parameters] = one.split(";").map((part) => part.trim())
    return (coding === "gzip" || coding === "*") && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })

const names = (tags: string | undefined, tag: string): boolean =>
  tags !== undefined && tags.split(",").some((one) => one.trim() === tag || one.trim() === "*")

/** Answers with a document of JSON that never changes: encoded and compressed once, and not sent to who has it. */
export const staticDocument = Effect.fnUntraced(function*(document: unknown) {
  const plain = new TextEncoder().encode(JSON.stringify(document))
  const small = yield* Effect.promise(() => compress(plain))
  // Weak, because it covers the compressed form too.
  const etag = `W/"${createHash("sha256").update(plain).digest("base64url")}"`
  const headers = { etag, "cache-control": cacheControl, vary: "Accept-Encoding" }
  const contentType = "application/json"
  const unchanged = HttpServerResponse.empty({ status: 304, headers })
  const whole = HttpServerResponse.uint8Array(plain, { contentType, headers })
  const packed = HttpServerResponse.uint8Array(small, {
    contentType,
    headers: { ...headers, "content-encoding": "gzip" }
  })
  return (request: HttpServerRequest.HttpServerRequest) => {
    if (names(request.headers["if-none-match"], etag)) return unchanged
    return takesGzip(request.headers["accept-encoding"]) ? packed : whole
  }
})
