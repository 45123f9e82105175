import { ByteSize, Effect, Layer, Option, Semaphore, Stream } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse, Multipart } from "effect/http"
import { createHash } from "node:crypto"
import {
  BadRequest,
  PayloadTooLarge,
  Unavailable,
  UnsupportedMediaType,
  ValidationFailed
} from "../../domain/errors/ApiErrors.ts"
import { MediaSettings } from "../../domain/media/MediaSettings.ts"
import { storageAway, type TemporaryFile, TemporaryFiles } from "../../domain/media/MediaStorage.ts"
import { type ReceivedFile, Uploads } from "../../domain/media/Uploads.ts"
import { BodyDigest } from "../middleware/Idempotency.ts"
import { formBytes, maxAltLength, MultipartUpload, ReceivedUpload } from "./UploadsApi.ts"

/** Uploads that a process receives at the same time; each holds a connection and up to a whole file on the disk. */
const maxConcurrent = 32

/** The parts of a form that were received so far. */
interface Form {
  readonly fields: Map<string, string>
  file?: { readonly temporary: TemporaryFile; readonly name: string; readonly contentType: string }
}

/** The rest of a body that is too large stays unread, so the connection cannot serve another request. */
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
      return Effect.fail(ValidationFailed.of("", "expected one file and the fields alt and isPublic"))
    default:
      return Effect.fail(BadRequest.of("The form could not be read."))
  }
}

const readPart = (files: TemporaryFiles["Service"], form: Form, limit: number) =>
  Effect.fnUntraced(function*(part: Multipart.Part) {
    if (part._tag === "Field") return void form.fields.set(part.key, part.value)
    if (part.key !== "file") return yield* Stream.runDrain(part.content)
    if (form.file !== undefined) return yield* Effect.fail(ValidationFailed.of("file", "expected one file"))
    const temporary = yield* files.receive(part.content, limit)
    form.file = { temporary, name: part.name, contentType: part.contentType }
  })

/** Requests are the same if file, name, declared type and fields are. */
const digestOf = ({ alt, declared, file, filename, isPublic }: ReceivedFile): string =>
  createHash("sha256").update(JSON.stringify([file.digest, filename, declared, alt, isPublic])).digest("hex")

const receivedFile = Effect.fnUntraced(function*({ fields, file }: Form) {
  if (file === undefined) return yield* Effect.fail(ValidationFailed.of("file", "file is required", "required"))
  const [alt, isPublic] = [fields.get("alt") ?? "", fields.get("isPublic") ?? "false"]
  if (alt.length > maxAltLength) {
    return yield* Effect.fail(ValidationFailed.of("alt", `expected at most ${maxAltLength} characters`))
  }
  if (isPublic !== "true" && isPublic !== "false") {
    return yield* Effect.fail(ValidationFailed.of("isPublic", "expected true or false"))
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
    const form: Form = { fields: new Map() }
    yield* Stream.runForEach(request.multipartStream, readPart(files, form, maxUploadSize)).pipe(
      Effect.provideContext(limits),
      Effect.catchTags({
        FileTooLarge: () => tooLarge(maxUploadSize),
        MultipartError: (error) => formError(error, maxUploadSize),
        StorageFailed: storageAway
      })
    )
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

/** The middleware that reads multipart uploads. */
export const multipartUploads: Layer.Layer<MultipartUpload, never, Uploads | TemporaryFiles | MediaSettings> = Layer
  .effect(MultipartUpload, makeMultipartUpload)
