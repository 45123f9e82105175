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
import { type StagedFile, Staging } from "../../domain/media/Staging.ts"
import { type ReceivedFile, storageAway, Uploads } from "../../domain/media/Uploads.ts"
import { BodyDigest } from "../middleware/Idempotency.ts"
import { formBytes, ReceivedUpload, Reception } from "./Reception.ts"
import { Upload } from "./Upload.ts"

/** Forms that a process takes in at the same time: each holds a connection, and up to a whole file of the disk. */
const atOnce = 32

/** What has arrived of a form. */
interface Form {
  readonly fields: Map<string, string>
  file?: { readonly staged: StagedFile; readonly name: string; readonly contentType: string }
}

/** The rest of what is too large stays unread, so that the connection cannot serve another request. */
const tooLarge = (limit: number) =>
  Effect.andThen(
    HttpEffect.appendPreResponseHandler((_request, response) =>
      Effect.succeed(HttpServerResponse.setHeader(response, "connection", "close"))
    ),
    Effect.fail(PayloadTooLarge.of(`The file exceeds the limit of ${limit} bytes.`))
  )

const ofForm = (error: Multipart.MultipartError, limit: number) => {
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

const taking = (staging: Staging["Service"], form: Form, limit: number) =>
  Effect.fnUntraced(function*(part: Multipart.Part) {
    if (part._tag === "Field") return void form.fields.set(part.key, part.value)
    if (part.key !== "file") return yield* Stream.runDrain(part.content)
    if (form.file !== undefined) return yield* Effect.fail(ValidationFailed.of("file", "expected one file"))
    const staged = yield* staging.receive(part.content, limit)
    form.file = { staged, name: part.name, contentType: part.contentType }
  })

/** Two requests are the same when they bring the same file and say the same of it. */
const digestOf = ({ alt, declared, file, filename, isPublic }: ReceivedFile): string =>
  createHash("sha256").update(JSON.stringify([file.digest, filename, declared, alt, isPublic])).digest("hex")

const receivedOf = Effect.fnUntraced(function*({ fields, file }: Form) {
  if (file === undefined) return yield* Effect.fail(ValidationFailed.of("file", "file is required", "required"))
  const said = yield* Upload.fields(Object.fromEntries(fields))
  const received: ReceivedFile = { file: file.staged, filename: file.name, declared: file.contentType, ...said }
  return received
})

const isForm = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  /^multipart\/form-data\s*;/i.test(headers["content-type"] ?? "")

const makeReception = Effect.gen(function*() {
  const [{ admit }, staging, { maxUploadSize }] = [yield* Uploads, yield* Staging, yield* MediaSettings]
  const limits = Multipart.limitsServices({
    maxParts: 10,
    maxFieldSize: ByteSize.bytes(16_384),
    maxTotalSize: ByteSize.bytes(maxUploadSize + formBytes)
  })

  const arriving = yield* Semaphore.make(atOnce)

  const receive = Effect.fn("Reception.receive")(function*(request: HttpServerRequest.HttpServerRequest) {
    yield* admit
    if (!isForm(request)) {
      return yield* Effect.fail(UnsupportedMediaType.of("The content type is not supported; send multipart/form-data."))
    }
    const form: Form = { fields: new Map() }
    yield* Stream.runForEach(request.multipartStream, taking(staging, form, maxUploadSize)).pipe(
      Effect.provideContext(limits),
      Effect.catchTags({
        FileTooLarge: () => tooLarge(maxUploadSize),
        MultipartError: (error) => ofForm(error, maxUploadSize),
        StorageFailed: storageAway
      })
    )
    return yield* receivedOf(form)
  })

  const received = Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const form = yield* arriving.withPermitsIfAvailable(1)(receive(request))
    return Option.isSome(form) ? form.value : yield* Unavailable.of("Too many files are arriving. Try again shortly.")
  })

  return Reception.of((handler) =>
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

/** Needs where files arrive and what may be uploaded. */
export const receptionLayer: Layer.Layer<Reception, never, Uploads | Staging | MediaSettings> = Layer.effect(
  Reception,
  makeReception
)
