import { ByteSize, Effect, Pull, Stream } from "effect"
import { type HttpServerRequest, Multipart } from "effect/http"
import { BadRequest, PayloadTooLarge, ValidationFailed } from "../../domain/platform/errors/ApiErrors.ts"
import { invalid } from "../../domain/platform/errors/ErrorKinds.ts"
import { strictly } from "../../domain/platform/text/Issues.ts"
import { sent, type SentQuery } from "./ImportsApi.ts"

class FormRefused extends invalid(
  "ImportForm",
  (path: string, _message: string) => path,
  (_path: string, message: string) => message
) {}

/** A file with what was sent beside it. */
export interface SentFile extends SentQuery {
  readonly type: string
  readonly bytes: Stream.Stream<Uint8Array, unknown>
}

export const mediaType = (header = ""): string => header.split(";")[0]?.trim().toLowerCase() ?? ""

type Payload = Stream.Stream<Uint8Array, unknown> | Stream.Stream<Multipart.Part, Multipart.MultipartError>

/** The content type decides how the payload was decoded. */
export const isForm = (
  _payload: Payload,
  { headers }: HttpServerRequest.HttpServerRequest
): _payload is Stream.Stream<Multipart.Part, Multipart.MultipartError> =>
  mediaType(headers["content-type"]) === "multipart/form-data"

const readFields = strictly(sent)

const limitsFor = (maxFileBytes: number) =>
  Multipart.limitsServices({
    maxParts: 20,
    maxFieldSize: ByteSize.bytes(16_384),
    maxTotalSize: ByteSize.bytes(maxFileBytes + 65_536),
    fieldMimeTypes: []
  })

const refusalOf = (maxFileBytes: number) => ({ reason }: Multipart.MultipartError) => {
  switch (reason._tag) {
    case "FileTooLarge":
    case "BodyTooLarge":
      return PayloadTooLarge.of(`The file exceeds the limit of ${maxFileBytes} bytes.`)
    case "FieldTooLarge":
    case "TooManyParts":
      return new FormRefused("", "The form must have one file, behind the other fields.")
    default:
      return BadRequest.of("The form could not be read.")
  }
}

/** Receives the file of a form, whose other fields stand before it and count like parameters of the query. */
export const receiveForm = <A, E, R>(
  form: Stream.Stream<Multipart.Part, Multipart.MultipartError>,
  query: SentQuery,
  maxFileBytes: number,
  receive: (file: SentFile) => Effect.Effect<A, E, R>
) => {
  const refuse = refusalOf(maxFileBytes)
  const last = (path: string) => new FormRefused(path, `${path || "The form"} must stand before the file.`)
  return Effect.scoped(Effect.gen(function*() {
    const parts = form.pipe(Stream.provideContext(limitsFor(maxFileBytes)), Stream.mapError(refuse), Stream.rechunk(1))
    const next = Pull.catchDone(Effect.map(yield* Stream.toPull(parts), ([part]) => part), () => Effect.undefined)
    const fields: Record<string, string> = {}
    let part = yield* next
    for (; part?._tag === "Field"; part = yield* next) fields[part.key] = part.value
    if (part?.key !== "file") return yield* new FormRefused("file", "Send the file in a field called file.")
    const sentFields = yield* Effect.mapError(readFields(fields), ValidationFailed.issues)
    const ended = Effect.flatMap(next, (more) => more === undefined ? Effect.void : Effect.fail(last(more.key)))
    return yield* receive({
      fileName: part.name,
      ...sentFields,
      ...query,
      type: mediaType(part.contentType),
      bytes: Stream.concat(Stream.mapError(part.content, refuse), Stream.fromEffectDrain(ended))
    })
  }))
}
