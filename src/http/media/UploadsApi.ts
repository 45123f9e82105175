import { Context, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import type { CurrentActor } from "../../domain/access/Actor.ts"
import {
  BadRequest,
  PayloadTooLarge,
  StorageNotSupported,
  Unavailable,
  UnsupportedMediaType,
  ValidationFailed
} from "../../domain/errors/ApiErrors.ts"
import { MediaAsset } from "../../domain/media/MediaAsset.ts"
import type { ReceivedFile } from "../../domain/media/Uploads.ts"
import { Data } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { Errors } from "../middleware/Errors.ts"
import { Idempotency, IdempotentChange } from "../middleware/Idempotency.ts"

/** The file of a multipart upload, on this machine until the request is answered. */
export class ReceivedUpload extends Context.Service<ReceivedUpload, ReceivedFile>()(
  "stoa/http/media/ReceivedUpload"
) {}

/**
 * Reads a multipart upload to a temporary file before the handler runs, because the idempotency key is compared by the
 * content of the file. A client that hangs up leaves nothing behind.
 */
export class MultipartUpload extends HttpApiMiddleware.Service<MultipartUpload, {
  provides: ReceivedUpload
  requires: CurrentActor
}>()("stoa/http/media/MultipartUpload", {
  error: [BadRequest, PayloadTooLarge, UnsupportedMediaType, ValidationFailed, StorageNotSupported, Unavailable]
}) {}

/** Bytes that a form may hold besides its file: boundaries, names and fields. */
export const formBytes = 65_536

/** Longest description of a file, in characters. */
export const maxAltLength = 1_000

/** The form for the document; the service reads it as a stream of parts. */
const UploadForm = Schema.Struct({
  file: Schema.String.annotate({ format: "binary" }),
  alt: Schema.optional(
    Schema.String.check(Schema.isMaxLength(maxAltLength)).annotate({
      description: "What the file shows, for people who cannot see it."
    })
  ),
  isPublic: Schema.optional(
    Schema.Literals(["true", "false"]).annotate({
      description: "Everybody may see it, even if nothing published shows it. Default false."
    })
  )
}).annotate({ identifier: "MediaUpload" })

/** The only route that takes a file (spec §4 `/media`, contract §10). */
export const UploadsGroup = HttpApiGroup.make("uploads").add(
  HttpApiEndpoint.post("upload", "/api/media/upload", {
    payload: UploadForm.pipe(HttpApiSchema.asMultipartStream()),
    success: Data(MediaAsset).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, anyOf("media:write"))
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Upload a file",
      description: "Its bytes determine the type; 422 if that is not allowed or contradicts the declared type."
    }))
)
  .middleware(Errors).middleware(Idempotency).middleware(MultipartUpload).middleware(AccessControl)
