import { Effect, Layer } from "effect"
import { NoAnswer, type Post, WebhookTransport } from "../../domain/webhooks/WebhookTransport.ts"
import type { HostResolver } from "./HostResolver.ts"
import { exchange } from "./PinnedRequest.ts"
import { TargetGuard } from "./TargetGuard.ts"
import type { TargetPolicy } from "./TargetRules.ts"

/** A registration waits no longer for a name server than this: deliveries ask it again. */
const admissionLimit = "3 seconds"

/**
 * `WebhookTransport` past the guard (contract, platform §9.5): the URL is judged, its host resolved once, every address
 * judged, and the connection made to one of the addresses that were judged. A name that shows a public address to the
 * registration and a private one to the delivery is therefore refused at the delivery.
 */
export const guardedTransport = (policy: TargetPolicy): Layer.Layer<WebhookTransport, never, HostResolver> =>
  Layer.effect(
    WebhookTransport,
    Effect.gen(function*() {
      const { addressesOf, judged } = yield* TargetGuard

      const admit = Effect.fn("WebhookTransport.admit")(function*(url: string) {
        yield* addressesOf(yield* judged(url)).pipe(
          Effect.catchTag("Unresolved", () => Effect.void),
          Effect.timeoutOrElse({ duration: admissionLimit, orElse: () => Effect.void })
        )
      })

      const post = Effect.fn("WebhookTransport.post")(function*(call: Post) {
        const target = yield* judged(call.url)
        const addresses = yield* addressesOf(target)
        return yield* exchange(target, addresses, call)
      }, Effect.catchTag("Unresolved", ({ message }) => Effect.fail(new NoAnswer({ message }))))

      return WebhookTransport.of({ admit, post })
    })
  ).pipe(Layer.provide(TargetGuard.layerOf(policy)))
