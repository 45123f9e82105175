import { Context, Data, Effect, Layer } from "effect"
import { lookup, Resolver } from "node:dns/promises"

/** No address was found for a host. */
export class Unresolved extends Data.TaggedError("Unresolved")<{ readonly message: string }> {}

const found = (host: string, addresses: ReadonlyArray<string>) =>
  addresses.length > 0
    ? Effect.succeed(addresses)
    : Effect.fail(new Unresolved({ message: `The host ${host} was not found.` }))

/** Finds the addresses of a host. */
export class HostResolver extends Context.Service<HostResolver, {
  /** All addresses, at least one. Not called with addresses. */
  readonly resolve: (host: string) => Effect.Effect<ReadonlyArray<string>, Unresolved>
}>()("stoa/layers/webhooks/HostResolver") {
  /**
   * Asks the name servers without the system's resolver, whose few threads a host with a dead name server would hold,
   * and without its hosts file, which holds internal names only.
   */
  static readonly dns: Layer.Layer<HostResolver> = Layer.succeed(HostResolver, {
    resolve: (host) =>
      Effect.callback<ReadonlyArray<string>, Unresolved>((resume) => {
        const resolver = new Resolver({ timeout: 2_000, tries: 2 })
        void Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]).then((answers) =>
          resume(found(host, answers.flatMap((answer) => answer.status === "fulfilled" ? answer.value : [])))
        )
        return Effect.sync(() => resolver.cancel())
      })
  })

  /** Asks the system, which also knows `localhost` and the names of a container network: for development. */
  static readonly system: Layer.Layer<HostResolver> = Layer.succeed(HostResolver, {
    resolve: (host) =>
      Effect.promise(() => lookup(host, { all: true }).catch(() => [])).pipe(
        Effect.flatMap((answers) => found(host, answers.map(({ address }) => address)))
      )
  })
}
