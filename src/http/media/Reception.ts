import { Context } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import type { CurrentActor } from "../../domain/access/Actor.ts"
import {
  BadRequest,
  PayloadTooLarge,
  StorageNotSupported,
  Unavailable,
  UnsupportedMediaType,
  ValidationFailed
} from "../../domain/errors/ApiErrors.ts"
import type { ReceivedFile } from "../../domain/media/Uploads.ts"

/** The form that a request brought, and lies on this machine until the request has its answer. */
export class ReceivedUpload extends Context.Service<ReceivedUpload, ReceivedFile>()(
  "stoa/http/media/ReceivedUpload"
) {}

/**
 * Takes in the form of an upload, byte by byte, before its handler runs: a key of idempotency is compared by what a file
 * holds, which is known when all of it is here. Whoever hangs up before leaves nothing behind.
 */
export class Reception extends HttpApiMiddleware.Service<Reception, {
  provides: ReceivedUpload
  requires: CurrentActor
}>()("stoa/http/media/Reception", {
  error: [BadRequest, PayloadTooLarge, UnsupportedMediaType, ValidationFailed, StorageNotSupported, Unavailable]
}) {}

/** What a form holds beside its file, in bytes: boundaries, names and a text or two. */
export const formBytes = 65_536
