import { ByteSize, Effect, Layer, Option, Semaphore, Stream } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse, Multipart } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { createHash } from "node:crypto"
import { FileRequired, Media, type ReceivedFile, Uploads } from "../../domain/media/Media.ts"
import { dispositionOf, MediaSettings, typeNamed } from "../../domain/media/MediaAsset.ts"
import {
  type ByteRange,
  MediaFiles,
  type ShownFile,
  storageAway,
  type TemporaryFile,
  TemporaryFiles
} from "../../domain/media/MediaFiles.ts"
import {
  BadRequest,
  PayloadTooLarge,
  Unavailable,
  UnsupportedMediaType
} from "../../domain/platform/errors/ApiErrors.ts"
import { invalid } from "../../domain/platform/errors/ErrorKinds.ts"
import { pageOf } from "../../domain/platform/paging/Paging.ts"
import { deleted } from "../envelope/Envelope.ts"
import { ignore } from "../middleware/FieldHandling.ts"
import { BodyDigest } from "../middleware/Idempotency.ts"
import { envelope } from "../server/Failure.ts"
import {
  FilesGroup,
  formBytes,
  formFields,
  maxAltLength,
  MediaGroup,
  MultipartUpload,
  ReceivedUpload,
  UploadsGroup
} from "./MediaApi.ts"

type AskedRange = ByteRange | "whole" | "beyond"

/** One part of a file (RFC 9110 §14). Several parts, other units and invalid ones: the whole file. */
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

const tagOf = ({ digest }: ShownFile): string => `"${digest.slice(0, 32)}"`

const isKnown = (sent: string | undefined, tag: string): boolean =>
  sent !== undefined && sent.split(",").some((one) => ["*", tag, `W/${tag}`].includes(one.trim()))

const cacheControlOf = ({ audience, isDerived, seconds }: ShownFile): string => {
  if (audience === "actor") return "private, no-cache"
  if (audience === "holder") return `private, max-age=${seconds}`
  return `public, max-age=${seconds}${isDerived ? ", immutable" : ""}`
}

/** No file runs scripts in the name of this host. */
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

const askedRange = ({ headers }: HttpServerRequest.HttpServerRequest, file: ShownFile): AskedRange => {
  const condition = headers["if-range"]
  return condition !== undefined && condition !== tagOf(file) ? "whole" : rangeOf(headers["range"], file.size)
}

const fileAnswer = Effect.fnUntraced(
  function*(request: HttpServerRequest.HttpServerRequest, file: ShownFile, read: MediaFiles["Service"]["read"]) {
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
    const bytes = request.method === "HEAD" ? Stream.empty : yield* read(file, range)
    return HttpServerResponse.stream(bytes, {
      status: range === undefined ? 200 : 206,
      contentType,
      contentLength,
      headers: { ...headers, ...part }
    })
  }
)

/** Not cached: a file may be unpublished, and a signature expires soon. */
const headers = { "cache-control": "no-store" }

export const mediaHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(MediaGroup),
  "media",
  Effect.fnUntraced(function*(handlers) {
    const media = yield* Media
    return handlers.handleAll({
      list: ({ query }) => media.page(query, pageOf(query)),
      address: ({ params, query }) =>
        Effect.map(
          media.address(params.id, { signed: query.signed === "true", width: query.width }),
          (address) => HttpServerResponse.redirect(address, { headers })
        ),
      record: ({ params }) => media.record(params.id),
      update: ({ params, payload }) => media.update(params.id, payload),
      remove: ({ params }) => Effect.as(media.remove(params.id), deleted),
      attach: ({ payload }) => Effect.as(media.attach(payload), { attached: true } as const),
      detach: ({ payload }) => Effect.as(media.detach(payload), { detached: true } as const)
    })
  })
)

export const filesHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(FilesGroup),
  "mediaFiles",
  Effect.fnUntraced(function*(handlers) {
    const files = yield* MediaFiles
    return handlers.handleAll({
      file: Effect.fnUntraced(function*({ params, query }) {
        const file = yield* files.show(`${params.year}/${params.name}`, query)
        return yield* fileAnswer(yield* HttpServerRequest.HttpServerRequest, file, files.read)
      })
    })
  })
)

export const uploadsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(UploadsGroup),
  "uploads",
  Effect.fnUntraced(function*(handlers) {
    const uploads = yield* Uploads
    return handlers.handleAll({ upload: () => Effect.flatMap(ReceivedUpload, uploads.store) })
  })
)

class FormRefused
  extends invalid("FormRefused", (path: string, _message: string) => path, (_path, message) => message)
{}

/** Each upload holds a connection and up to a whole file on disk. */
const maxConcurrent = 32

interface Form {
  readonly fields: Map<string, string>
  readonly unknown: Set<string>
  file?: { readonly temporary: TemporaryFile; readonly name: string; readonly contentType: string }
}

/** The rest of the body stays unread: the connection cannot serve another request. */
const tooLarge = (limit: number) =>
  Effect.andThen(
    HttpEffect.appendPreResponseHandler((_request, response) =>
      Effect.succeed(HttpServerResponse.setHeader(response, "connection", "close"))
    ),
    Effect.fail(PayloadTooLarge.of(`The file exceeds the limit of ${limit} bytes.`))
  )

const formError = (error: Multipart.MultipartError, limit: number) => {
  switch (error.reason._tag) {
    case "FileTooLarge":
    case "BodyTooLarge":
      return tooLarge(limit)
    case "FieldTooLarge":
    case "TooManyParts":
      return Effect.fail(new FormRefused("", "expected one file and the fields alt and isPublic"))
    default:
      return Effect.fail(BadRequest.of("The form could not be read."))
  }
}

const readPart = (files: TemporaryFiles["Service"], form: Form, limit: number) =>
  Effect.fnUntraced(function*(part: Multipart.Part) {
    if (!formFields.includes(part.key)) form.unknown.add(part.key)
    if (part._tag === "Field") return void form.fields.set(part.key, part.value)
    if (part.key !== "file") return yield* Stream.runDrain(part.content)
    if (form.file !== undefined) return yield* new FormRefused("file", "expected one file")
    const temporary = yield* files.receive(part.content, limit)
    form.file = { temporary, name: part.name, contentType: part.contentType }
  })

const digestOf = ({ alt, declared, file, filename, isPublic }: ReceivedFile): string =>
  createHash("sha256").update(JSON.stringify([file.digest, filename, declared, alt, isPublic])).digest("hex")

const receivedFile = Effect.fnUntraced(function*({ fields, file }: Form) {
  if (file === undefined) return yield* new FileRequired()
  const [alt, isPublic] = [fields.get("alt") ?? "", fields.get("isPublic") ?? "false"]
  if (alt.length > maxAltLength) return yield* new FormRefused("alt", `expected at most ${maxAltLength} characters`)
  if (isPublic !== "true" && isPublic !== "false") {
    return yield* new FormRefused("isPublic", "expected true or false")
  }
  const received: ReceivedFile = {
    file: file.temporary,
    filename: file.name,
    declared: file.contentType,
    // A blank description is none (contract §10).
    alt: alt.trim() === "" ? null : alt,
    isPublic: isPublic === "true"
  }
  return received
})

const isForm = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  /^multipart\/form-data\s*;/i.test(headers["content-type"] ?? "")

const makeMultipartUpload = Effect.gen(function*() {
  const [{ admit }, files, { maxUploadSize }] = [yield* Uploads, yield* TemporaryFiles, yield* MediaSettings]
  const limits = Multipart.limitsServices({
    maxParts: 10,
    maxFieldSize: ByteSize.bytes(16_384),
    maxTotalSize: ByteSize.bytes(maxUploadSize + formBytes)
  })

  const permits = yield* Semaphore.make(maxConcurrent)

  const receive = Effect.fn("MultipartUpload.receive")(function*(request: HttpServerRequest.HttpServerRequest) {
    yield* admit
    if (!isForm(request)) {
      return yield* Effect.fail(UnsupportedMediaType.of("The content type is not supported; send multipart/form-data."))
    }
    const form: Form = { fields: new Map(), unknown: new Set() }
    yield* Stream.runForEach(request.multipartStream, readPart(files, form, maxUploadSize)).pipe(
      Effect.provideContext(limits),
      Effect.catchTags({
        FileTooLarge: () => tooLarge(maxUploadSize),
        MultipartError: (error) => formError(error, maxUploadSize),
        StorageFailed: storageAway
      })
    )
    yield* ignore([...form.unknown].map((name) => ({ kind: "field", path: [name], known: formFields })))
    return yield* receivedFile(form)
  })

  const received = Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const form = yield* permits.withPermitsIfAvailable(1)(receive(request))
    return Option.isSome(form) ? form.value : yield* Unavailable.of("Too many files are arriving. Try again shortly.")
  })

  return MultipartUpload.of((handler) =>
    Effect.scoped(Effect.flatMap(
      received,
      (received) =>
        handler.pipe(
          Effect.provideService(BodyDigest, digestOf(received)),
          Effect.provideService(ReceivedUpload, received)
        )
    ))
  )
})

export const multipartUploads: Layer.Layer<MultipartUpload, never, Uploads | TemporaryFiles | MediaSettings> = Layer
  .effect(MultipartUpload, makeMultipartUpload)
