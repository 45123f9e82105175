import { HttpApiMiddleware } from "effect/http-api"
import type { CurrentActor } from "../../domain/access/Actor.ts"

/**
 * Provides the user of a session under `/api/auth`, for the change log and for idempotency keys. It refuses no request:
 * better-auth decides where a session is required, and a request with an expired one may be a sign-in. Errors of inner
 * middleware get the form of these routes (contract, platform §1.1).
 */
export class AuthCaller extends HttpApiMiddleware.Service<AuthCaller, { provides: CurrentActor }>()(
  "stoa/http/AuthCaller"
) {}
