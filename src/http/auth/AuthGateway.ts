import { Context, type Effect } from "effect"
import type { CurrentActor } from "../../domain/access/Actor.ts"

/** False: the request has no mail sent, since its recipient was sent too many. Its answer and its work are the same. */
export const MailAllowed = Context.Reference<boolean>("stoa/http/auth/MailAllowed", { defaultValue: () => true })

/**
 * Answers the requests of `/api/auth` (contract, platform §3). What stands behind it is wired in `layers`; HTTP only hands
 * requests over and gives answers the form of the service.
 */
export class AuthGateway extends Context.Service<AuthGateway, {
  readonly answer: (request: Request) => Effect.Effect<Response, never, CurrentActor>
}>()("stoa/http/auth/AuthGateway") {}
