import { Context, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware, HttpApiSchema } from "effect/http-api"
import type { ReceivedFile } from "../../domain/media/Media.ts"
import { Detachment, MediaAsset, MediaChange, MediaRecord, NewAttachment } from "../../domain/media/MediaAsset.ts"
import { Access, anyOf, judgedBy, open, Storeless } from "../../domain/platform/access/AccessRule.ts"
import { type Actor, type CurrentActor, holds, isSignedIn } from "../../domain/platform/access/Actor.ts"
import {
  BadRequest,
  PayloadTooLarge,
  RangeNotSatisfiable,
  StorageNotSupported,
  Unavailable,
  UnsupportedMediaType,
  ValidationFailed
} from "../../domain/platform/errors/ApiErrors.ts"
import { asFlag, typedAs } from "../../domain/platform/hints/Hints.ts"
import { EntityId, MediaAssetId } from "../../domain/platform/ids/Id.ts"
import { pageQuery } from "../../domain/platform/paging/Paging.ts"
import { guarded, summary } from "../endpoint/Resource.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"
import { AccessControl, RouteRate } from "../middleware/Access.ts"
import { Errors, parseOptions } from "../middleware/Errors.ts"
import { Idempotency, IdempotentChange } from "../middleware/Idempotency.ts"

const id = { id: MediaAssetId }

export const Width = Schema.NumberFromString.check(Schema.isInt()).pipe(Schema.annotateEncoded({
  description: "Of an image: a version that is at most this wide. One of the widths of the deployment.",
  ...typedAs({ type: "integer" })
}))

/** Media and attachments (spec §4 `/media`, contract §10). */
export const MediaGroup = guarded(
  "media",
  HttpApiEndpoint.get("list", "/api/media", {
    query: {
      ...pageQuery,
      contentType: Schema.optional(Schema.String),
      entityId: Schema.optional(EntityId.annotate({ description: "Only what is attached to this entity." }))
    },
    success: Page(MediaAsset)
  })
    .annotate(Access, anyOf("media:read"))
    .annotateMerge(summary("List media, newest first")),
  HttpApiEndpoint.get("address", "/api/media/:id", {
    params: id,
    query: { signed: Schema.optional(Schema.String.annotate(asFlag)), width: Schema.optional(Width) },
    success: HttpApiSchema.Empty(302)
  })
    .annotate(Access, anyOf("catalog:read", "media:read"))
    .annotateMerge(
      summary(
        "Redirect to the file of a medium",
        "Redirects to its address; with `signed=true` to one that works for anyone and for some minutes."
      )
    ),
  HttpApiEndpoint.get("record", "/api/media/:id/record", { params: id, success: Data(MediaRecord) })
    .annotate(Access, anyOf("media:read"))
    .annotateMerge(summary("Get the record of a medium, with its attachments")),
  HttpApiEndpoint.patch("update", "/api/media/:id", { params: id, payload: MediaChange, success: Data(MediaAsset) })
    .annotate(Access, anyOf("media:write"))
    .annotateMerge(summary("Change the description of a medium")),
  HttpApiEndpoint.delete("remove", "/api/media/:id", { params: id, success: Deleted })
    .annotate(Access, anyOf("media:write"))
    .annotateMerge(summary("Delete a medium, its file and its attachments")),
  HttpApiEndpoint.post("attach", "/api/media/attach", {
    payload: NewAttachment,
    success: Data(Schema.Struct({ attached: Schema.Literal(true) })).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, anyOf("media:write"))
    .annotateMerge(
      summary(
        "Attach a medium to an entity or one of its variants",
        "Once at each level; 409 if it is attached already, in any role."
      )
    ),
  HttpApiEndpoint.post("detach", "/api/media/detach", {
    payload: Detachment,
    success: Data(Schema.Struct({ detached: Schema.Literal(true) }))
  })
    .annotate(Access, anyOf("media:write"))
    .annotateMerge(summary("Detach a medium"))
)

const File = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "*/*" }))

/** Files of media (docs/media.md); their addresses name no store. */
export const FilesGroup = HttpApiGroup.make("mediaFiles").add(
  HttpApiEndpoint.get("file", "/api/media/files/:year/:name", {
    params: { year: Schema.String, name: Schema.String },
    query: {
      expires: Schema.optional(Schema.String),
      signature: Schema.optional(Schema.String),
      width: Schema.optional(Schema.String.annotate(typedAs({ type: "integer" })))
    },
    success: [File, File.pipe(HttpApiSchema.status(206)), HttpApiSchema.Empty(304)],
    error: RangeNotSatisfiable
  })
    .annotate(Access, open)
    .annotate(Storeless, true)
    .annotate(RouteRate, "none")
    .annotateMerge(
      summary(
        "Download the file of a medium",
        "For everybody if it is public or something published shows it, else by a signed address. Answers ranges and " +
          "conditional requests. 404 if the caller may not see it, 403 for an expired address."
      )
    )
)
  .annotateMerge(parseOptions)
  .middleware(Errors).middleware(AccessControl)

export class ReceivedUpload extends Context.Service<ReceivedUpload, ReceivedFile>()(
  "stoa/http/media/ReceivedUpload"
) {}

/**
 * Reads an upload to a temporary file before the handler: the idempotency key covers its content. An aborted upload
 * leaves nothing.
 */
export class MultipartUpload extends HttpApiMiddleware.Service<MultipartUpload, {
  provides: ReceivedUpload
  requires: CurrentActor
}>()("stoa/http/media/MultipartUpload", {
  error: [BadRequest, PayloadTooLarge, UnsupportedMediaType, ValidationFailed, StorageNotSupported, Unavailable]
}) {}

export const formBytes = 65_536

export const maxAltLength = 1_000

const UploadForm = Schema.Struct({
  file: Schema.String.annotate({ format: "binary", description: "Its content decides the type, not its name." }),
  alt: Schema.optional(
    Schema.String.check(Schema.isMaxLength(maxAltLength)).annotate({
      description: "Words in place of the picture, for people who cannot see it."
    })
  ),
  isPublic: Schema.optional(
    Schema.Literals(["true", "false"]).annotate({
      description: "Everybody may see it, even if nothing published shows it. Default false."
    })
  )
}).annotate({ identifier: "MediaUpload" })

export const formFields: ReadonlyArray<string> = Object.keys(UploadForm.fields)

const mayUpload = (actor: Actor): boolean =>
  holds(actor, "media:write") || isSignedIn(actor) && holds(actor, "media:write:own")

/** The only route that takes a file (spec §4 `/media`, contract §10). */
export const UploadsGroup = HttpApiGroup.make("uploads").add(
  HttpApiEndpoint.post("upload", "/api/media/upload", {
    payload: UploadForm.pipe(HttpApiSchema.asMultipartStream()),
    success: Data(MediaAsset).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, judgedBy(mayUpload, "media:write"))
    .annotate(IdempotentChange, true)
    .annotateMerge(
      summary(
        "Upload a file",
        "Its bytes determine the type; 422 if that is not allowed or contradicts the declared type. With `media:write:own` " +
          "signed-in shoppers upload private pictures for what they write. They are removed after a day unless something " +
          "uses them; 409 for too many of them."
      )
    )
)
  .middleware(Errors).middleware(Idempotency).middleware(MultipartUpload).middleware(AccessControl)
