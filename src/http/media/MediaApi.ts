import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { Detachment, MediaAsset, MediaChange, MediaRecord, NewAttachment } from "../../domain/media/MediaAsset.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency } from "../middleware/Idempotency.ts"

const id = { id: Uuid }

/** A width as an address has it. */
export const Width = Schema.NumberFromString.check(Schema.isInt()).annotate({
  description: "Of an image: a version that is at most this wide. One of the widths of the deployment."
})

/** Media and what shows them (spec §4 `/media`, contract §10). */
export const MediaGroup = HttpApiGroup.make("media").add(
  HttpApiEndpoint.get("list", "/api/media", {
    query: {
      ...pageQuery,
      contentType: Schema.optional(Schema.String),
      entityId: Schema.optional(Uuid.annotate({ description: "Only what is attached to this entity." }))
    },
    success: Page(MediaAsset)
  })
    .annotate(Access, anyOf("media:read"))
    .annotateMerge(OpenApi.annotations({ summary: "List media, newest first" })),
  HttpApiEndpoint.get("address", "/api/media/:id", {
    params: id,
    query: { signed: Schema.optional(Schema.String), width: Schema.optional(Width) },
    success: HttpApiSchema.Empty(302)
  })
    .annotate(Access, anyOf("catalog:read", "media:read"))
    .annotateMerge(OpenApi.annotations({
      summary: "Go to the file of a medium",
      description: "Redirects to its address; with `signed=true` to one that works for anyone and for some minutes."
    })),
  HttpApiEndpoint.get("record", "/api/media/:id/record", { params: id, success: Data(MediaRecord) })
    .annotate(Access, anyOf("media:read"))
    .annotateMerge(OpenApi.annotations({ summary: "The record of a medium, with what shows it" })),
  HttpApiEndpoint.patch("update", "/api/media/:id", { params: id, payload: MediaChange, success: Data(MediaAsset) })
    .annotate(Access, anyOf("media:write"))
    .annotateMerge(OpenApi.annotations({ summary: "Change what is said of a medium" })),
  HttpApiEndpoint.delete("remove", "/api/media/:id", { params: id, success: Deleted })
    .annotate(Access, anyOf("media:write"))
    .annotateMerge(OpenApi.annotations({ summary: "Delete a medium, its file and its attachments" })),
  HttpApiEndpoint.post("attach", "/api/media/attach", {
    payload: NewAttachment,
    success: Data(Schema.Struct({ attached: Schema.Literal(true) })).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, anyOf("media:write"))
    .annotateMerge(OpenApi.annotations({
      summary: "Attach a medium to an entity or one of its variants",
      description: "Once at each level; 409 if it is attached already, in any role."
    })),
  HttpApiEndpoint.post("detach", "/api/media/detach", {
    payload: Detachment,
    success: Data(Schema.Struct({ detached: Schema.Literal(true) }))
  })
    .annotate(Access, anyOf("media:write"))
    .annotateMerge(OpenApi.annotations({ summary: "Detach a medium" }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
