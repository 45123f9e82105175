import { Context, Effect } from "effect"
import type { CurrentActor } from "../../domain/access/Actor.ts"

/**
 * Whether a mail of a kind may be sent to an address; false when the recipient got too many. Response and work of the
 * request are the same.
 */
export const MailLimit = Context.Reference<(kind: string, to: string) => Effect.Effect<boolean>>(
  "stoa/http/auth/MailLimit",
  { defaultValue: () => () => Effect.succeed(true) }
)

/** Answers the requests of `/api/auth` (contract, platform §3); implemented in `layers/auth`. */
export class AuthGateway extends Context.Service<AuthGateway, {
  readonly answer: (request: Request) => Effect.Effect<Response, never, CurrentActor>
}>()("stoa/http/auth/AuthGateway") {}
