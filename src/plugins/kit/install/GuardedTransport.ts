import * as NodeStream from "@effect/platform-node/NodeStream"
import { Effect, Layer } from "effect"
import type { IncomingMessage } from "node:http"
import type { AppSettings } from "../../../layers/config/AppConfig.ts"
import { hostResolver, targetPolicy } from "../../../layers/webhooks/HttpSender.ts"
import { prepareRequest, responseTo } from "../../../layers/webhooks/PinnedRequest.ts"
import { HostResolver, targetGuard, type TargetPolicy } from "../../../layers/webhooks/TargetGuard.ts"
import {
  OutboundFailed,
  type OutboundMessage,
  OutboundRefused,
  type OutboundTransport
} from "../outbound/OutboundTransport.ts"

const bodyOf = (response: IncomingMessage) =>
  NodeStream.fromReadable<Uint8Array, OutboundFailed>({
    evaluate: () => response,
    onError: () => new OutboundFailed({ reason: "noAnswer", message: "The answer broke off." })
  })

const guardWith = Effect.fnUntraced(function*(policy: TargetPolicy, resolver: Layer.Layer<HostResolver>) {
  return yield* Effect.provideContext(targetGuard(policy), yield* Layer.build(resolver))
})

/**
 * HTTP of plugins behind the guard of webhooks (contract, platform §9.5). URLs that somebody names may be those where
 * webhooks may go; those that the deployment has configured, any.
 */
export const guardedTransport = Effect.fnUntraced(function*(policy: TargetPolicy, resolver: Layer.Layer<HostResolver>) {
  const guarded = yield* guardWith(policy, resolver)
  const configured = yield* guardWith({ allowPrivate: true, allowHttp: true, ports: undefined }, HostResolver.system)

  const send: OutboundTransport = Effect.fnUntraced(
    function*({ headers, isConfigured, method, text, url }: OutboundMessage) {
      const target = yield* isConfigured ? configured(url) : guarded(url)
      const request = yield* Effect.acquireRelease(
        Effect.sync(() => prepareRequest(target, { method, headers })),
        (made) => Effect.sync(() => made.destroy())
      )
      const response = yield* responseTo(request, text)
      return { status: response.statusCode ?? 0, headers: response.headers, body: bodyOf(response) }
    },
    Effect.catchTags({
      TargetRefused: ({ message }) => Effect.fail(new OutboundRefused({ message: `The URL ${message}` })),
      Unresolved: ({ message }) => Effect.fail(new OutboundFailed({ reason: "unresolved", message })),
      NoAnswer: ({ message }) => Effect.fail(new OutboundFailed({ reason: "noAnswer", message }))
    })
  )
  return send
})

/** The same by the settings of the deployment. */
export const transportOf = (settings: AppSettings) => guardedTransport(targetPolicy(settings), hostResolver(settings))
