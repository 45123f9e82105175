import { Context, Effect } from "effect"
import type { CurrentActor } from "../../domain/access/Actor.ts"

/**
 * Asked when a mail of a kind is about to leave for an address. False: it is not to be sent, since its recipient was sent
 * too many. The answer and the work of its request are the same.
 */
export const MailLimit = Context.Reference<(kind: string, to: string) => Effect.Effect<boolean>>(
  "stoa/http/auth/MailLimit",
  { defaultValue: () => () => Effect.succeed(true) }
)

/**
 * Answers the requests of `/api/auth` (contract, platform §3). What stands behind it is wired in `layers`; HTTP only hands
 * requests over and gives answers the form of the service.
 */
export class AuthGateway extends Context.Service<AuthGateway, {
  readonly answer: (request: Request) => Effect.Effect<Response, never, CurrentActor>
}>()("stoa/http/auth/AuthGateway") {}
