import { Context, DateTime, Duration, Effect, Layer } from "effect"
import { openSecret } from "./SecretEncryption.ts"
import type { StoredEndpoint } from "./WebhookRows.ts"
import { WebhookSettings } from "./WebhookSettings.ts"
import { deliveryHeaders } from "./WebhookSignature.ts"
import { WebhookTransport } from "./WebhookTransport.ts"

/** How an attempt ended, without what follows from it. */
export interface AttemptResult {
  readonly statusCode: number | null
  readonly error: string | null
  readonly snippet: string | null
  readonly refused: boolean
  readonly durationMs: number
}

/** Look-up, connection, request and answer together (contract, platform §9.2). */
const timeLimit = "10 seconds"

type Ending = Omit<AttemptResult, "durationMs">

const unanswered = (error: string, refused = false): Ending => ({ statusCode: null, error, snippet: null, refused })

/** Whose secret it is, so that it opens nowhere else. */
export const secretOwner = (organizationId: string, endpointId: string): string => `${organizationId}/${endpointId}`

/** Sends a message to an endpoint once: decrypts its secrets, signs, posts and returns the result. */
export class WebhookAttempts extends Context.Service<WebhookAttempts, {
  readonly send: (
    stored: StoredEndpoint,
    message: { readonly id: string; readonly type: string; readonly body: string }
  ) => Effect.Effect<AttemptResult>
}>()("stoa/domain/webhooks/WebhookAttempts") {
  static readonly layer = Layer.effect(
    WebhookAttempts,
    Effect.gen(function*() {
      const { keyring } = yield* WebhookSettings
      const transport = yield* WebhookTransport

      const secretsOf = ({ endpoint, previous, secret }: StoredEndpoint, now: Date) => {
        if (keyring === undefined) return undefined
        const owner = secretOwner(endpoint.organizationId, endpoint.id)
        const own = openSecret(keyring, owner, secret)
        const old = previous && previous.until > now ? openSecret(keyring, owner, previous.secret) : undefined
        return own === undefined ? undefined : [own, ...(old === undefined ? [] : [old])] as const
      }

      const post = Effect.fnUntraced(
        function*(stored: StoredEndpoint, message: { id: string; type: string; body: string }) {
          const now = DateTime.toDateUtc(yield* DateTime.now)
          const secrets = secretsOf(stored, now)
          if (secrets === undefined) {
            yield* Effect.logError(`the secret of webhook endpoint ${stored.endpoint.id} cannot be opened`)
            return unanswered("The secret of the endpoint cannot be opened: rotate it.")
          }
          const headers = deliveryHeaders({ ...message, at: now }, secrets)
          const { snippet, statusCode } = yield* transport.post({
            url: stored.endpoint.url,
            headers,
            body: message.body
          })
          const error = statusCode >= 200 && statusCode < 300 ? null : `The receiver answered ${statusCode}.`
          return { statusCode, error, snippet, refused: false }
        },
        Effect.catchTags({
          TargetRefused: ({ message }) => Effect.succeed(unanswered(`The URL ${message}.`, true)),
          NoAnswer: ({ message }) => Effect.succeed(unanswered(message))
        }),
        Effect.timeoutOrElse({
          duration: timeLimit,
          orElse: () => Effect.succeed(unanswered(`No answer within ${timeLimit}.`))
        })
      )

      const send = Effect.fn("WebhookAttempts.send")(
        function*(stored: StoredEndpoint, message: { id: string; type: string; body: string }) {
          const [duration, ending] = yield* Effect.timed(post(stored, message))
          return { ...ending, durationMs: Math.round(Duration.toMillis(duration)) }
        }
      )
      return { send }
    })
  )
}
