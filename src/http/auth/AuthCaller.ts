import { HttpApiMiddleware } from "effect/http-api"
import type { CurrentActor } from "../../domain/access/Actor.ts"

/**
 * Finds out whose session a request under `/api/auth` shows, for the change log and for idempotency keys. It
 * refuses nobody: whether a session is needed is better-auth's to say, and whoever comes with a dead one comes to sign in.
 * Errors of the middleware inside of it get the form of these routes (contract, platform §1.1).
 */
export class AuthCaller extends HttpApiMiddleware.Service<AuthCaller, { provides: CurrentActor }>()(
  "stoa/http/AuthCaller"
) {}
