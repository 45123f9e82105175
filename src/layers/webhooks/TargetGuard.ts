import { Context, Effect, Layer } from "effect"
import { isIP } from "node:net"
import { TargetRefused } from "../../domain/webhooks/WebhookTransport.ts"
import { HostResolver, type Unresolved } from "./HostResolver.ts"
import { addressRefusal, type Target, targetOf, type TargetPolicy } from "./TargetRules.ts"

/** Keeps requests to addresses that strangers name from internal targets (contract, platform §9.5). */
export class TargetGuard extends Context.Service<TargetGuard, {
  /** Judges a URL without asking anybody. */
  readonly judged: (url: string) => Effect.Effect<Target, TargetRefused>
  /** Resolves the host once and judges every address; a connection goes to one of these and looks up nothing itself. */
  readonly addressesOf: (target: Target) => Effect.Effect<ReadonlyArray<string>, TargetRefused | Unresolved>
}>()("stoa/layers/webhooks/TargetGuard") {
  static readonly layerOf = (policy: TargetPolicy): Layer.Layer<TargetGuard, never, HostResolver> =>
    Layer.effect(
      TargetGuard,
      Effect.map(HostResolver, ({ resolve }) => ({
        judged: (url: string) => {
          const target = targetOf(url, policy)
          return typeof target === "string"
            ? Effect.fail(new TargetRefused({ message: target }))
            : Effect.succeed(target)
        },
        addressesOf: Effect.fnUntraced(function*({ host }: Target) {
          const addresses = isIP(host) === 0 ? yield* resolve(host) : [host]
          for (const address of addresses) {
            const refusal = addressRefusal(address, policy)
            if (refusal !== undefined) return yield* new TargetRefused({ message: refusal })
          }
          return addresses
        })
      }))
    )
}
