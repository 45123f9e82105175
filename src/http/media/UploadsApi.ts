import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { MediaAsset } from "../../domain/media/MediaAsset.ts"
import { Data } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { Errors } from "../middleware/Errors.ts"
import { Idempotency, MarkedChange } from "../middleware/Idempotency.ts"
import { Reception } from "./Reception.ts"
import { Upload } from "./Upload.ts"

/** The only route that takes a file (spec §4 `/media`, contract §10). */
export const UploadsGroup = HttpApiGroup.make("uploads").add(
  HttpApiEndpoint.post("upload", "/api/media/upload", {
    payload: Upload.form.pipe(HttpApiSchema.asMultipartStream()),
    success: Data(MediaAsset).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, anyOf("media:write"))
    .annotate(MarkedChange, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Upload a file",
      description: "What it is is told by its bytes; 422 where that is not allowed or not what the client declares."
    }))
)
  .middleware(Errors).middleware(Idempotency).middleware(Reception).middleware(AccessControl)
