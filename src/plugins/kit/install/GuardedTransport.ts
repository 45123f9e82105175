import { Effect, Layer } from "effect"
import type { IncomingMessage } from "node:http"
import type { AppSettings } from "../../../layers/config/AppConfig.ts"
import { hostResolver, targetPolicy } from "../../../layers/webhooks/HttpSender.ts"
import { NoAnswer, prepareRequest, responseTo } from "../../../layers/webhooks/PinnedRequest.ts"
import { HostResolver, targetGuard, type TargetPolicy } from "../../../layers/webhooks/TargetGuard.ts"
import {
  OutboundFailed,
  type OutboundMessage,
  OutboundRefused,
  type OutboundTransport
} from "../outbound/OutboundTransport.ts"

const bodyOf = (response: IncomingMessage, limit: number) =>
  Effect.callback<string, NoAnswer | OutboundFailed>((resume) => {
    const chunks: Array<Uint8Array> = []
    let read = 0
    const broken = () => resume(Effect.fail(new NoAnswer({ message: "The answer broke off." })))
    response.on("data", (chunk: Uint8Array) => {
      chunks.push(chunk)
      read += chunk.length
      if (read <= limit) return
      response.destroy()
      resume(
        Effect.fail(new OutboundFailed({ reason: "tooLarge", message: `The answer has more than ${limit} bytes.` }))
      )
    })
    response.on(
      "end",
      () => response.complete ? resume(Effect.succeed(Buffer.concat(chunks).toString("utf8"))) : broken()
    )
    response.on("error", broken)
    response.on("close", broken)
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
    function*({ headers, isConfigured, maxBytes, method, text, url }: OutboundMessage) {
      const target = yield* isConfigured ? configured(url) : guarded(url)
      const request = yield* Effect.acquireRelease(
        Effect.sync(() => prepareRequest(target, { method, headers })),
        (made) => Effect.sync(() => made.destroy())
      )
      const response = yield* responseTo(request, text)
      const body = yield* bodyOf(response, maxBytes)
      return { status: response.statusCode ?? 0, headers: response.headers, body }
    },
    Effect.scoped,
    Effect.catchTags({
      TargetRefused: ({ message }) => Effect.fail(new OutboundRefused({ message: `The URL ${message}.` })),
      Unresolved: ({ message }) => Effect.fail(new OutboundFailed({ reason: "unresolved", message })),
      NoAnswer: ({ message }) => Effect.fail(new OutboundFailed({ reason: "noAnswer", message }))
    })
  )
  return send
})

/** The same by the settings of the deployment. */
export const transportOf = (settings: AppSettings) => guardedTransport(targetPolicy(settings), hostResolver(settings))
