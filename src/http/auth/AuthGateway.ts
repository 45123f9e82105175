import { Context, type Effect } from "effect"
import type { CurrentActor } from "../../domain/access/Actor.ts"

/**
 * Answers the requests of `/api/auth` (contract, platform §3). What stands behind it is wired in `layers`; HTTP only hands
 * requests over and gives answers the form of the service.
 */
export class AuthGateway extends Context.Service<AuthGateway, {
  readonly answer: (request: Request) => Effect.Effect<Response, never, CurrentActor>
}>()("stoa/http/auth/AuthGateway") {}
