import { Context, Data, Effect, Layer } from "effect"
import type { Headers } from "effect/http"
import { OrgResolutionFailed } from "../../domain/errors/ApiErrors.ts"
import { Organizations } from "../../domain/tenancy/Organizations.ts"
import type { Asked } from "../../http/access/Actors.ts"
import { AppConfig } from "../config/AppConfig.ts"

/** The error of the deployment's resolver. */
class ResolverFailed extends Data.TaggedError("ResolverFailed")<{ readonly cause: unknown }> {}

/** Maximum time of a resolver, which runs within a request. */
const timeout = "5 seconds"

/** The request for `auth.storeResolver`, without its body. The host is that of the client. */
const shown = (headers: Headers.Headers, { method, url }: Asked): Request => {
  const host = /^[\w.:[\]-]+$/.test(headers["host"] ?? "") ? headers["host"] : "localhost"
  const base = `http://${host}`
  return new Request(URL.canParse(url, base) ? new URL(url, base) : base, { method, headers: { ...headers } })
}

/**
 * The organization of a caller who has none (contract, platform §6): that of `auth.storeResolver` if it exists, else the
 * default one, or 503 with `auth.strictOrgResolution`.
 */
export class StoreResolution extends Context.Service<StoreResolution, {
  readonly organizationOf: (
    headers: Headers.Headers,
    asked: Asked | undefined
  ) => Effect.Effect<string, OrgResolutionFailed>
}>()("stoa/layers/access/StoreResolution") {
  static readonly layer = Layer.effect(
    StoreResolution,
    Effect.gen(function*() {
      const { exists } = yield* Organizations
      const { access } = yield* AppConfig
      const { defaultOrganizationId, storeResolver, strictOrgResolution } = access
      const byDefault = Effect.succeed(defaultOrganizationId)
      if (storeResolver === undefined) return { organizationOf: () => byDefault }

      const unresolved = strictOrgResolution ? Effect.fail(OrgResolutionFailed.of()) : byDefault

      const resolve = (headers: Headers.Headers, asked: Asked) =>
        Effect.tryPromise({
          try: async () => storeResolver(shown(headers, asked)),
          catch: (cause) => new ResolverFailed({ cause })
        }).pipe(Effect.timeout(timeout))

      const found = Effect.fnUntraced(function*(headers: Headers.Headers, asked: Asked) {
        const id = yield* resolve(headers, asked)
        return typeof id === "string" && (yield* exists(id)) ? id : yield* unresolved
      })

      return {
        organizationOf: (headers: Headers.Headers, asked: Asked | undefined) =>
          asked?.storeless === true
            ? byDefault
            : Effect.catchTags(found(headers, asked ?? { method: "POST", url: "/rpc" }), {
              ResolverFailed: ({ cause }) =>
                Effect.andThen(Effect.logWarning("auth.storeResolver failed", cause), unresolved),
              TimeoutError: () => Effect.andThen(Effect.logWarning("auth.storeResolver did not answer"), unresolved)
            })
      }
    })
  )
}
