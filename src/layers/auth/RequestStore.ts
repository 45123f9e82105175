import { Context, Effect, Layer } from "effect"
import { Headers } from "effect/http"
import { StoreSettings } from "../../domain/settings/StoreSettings.ts"
import { Organizations } from "../../domain/tenancy/Organizations.ts"
import { StoreResolution } from "../access/StoreResolution.ts"

/** The organization of the request that is being answered under `/api/auth`; none outside of one. */
export const RequestOrganization = Context.Reference<string | undefined>("stoa/layers/auth/RequestOrganization", {
  defaultValue: () => undefined
})

/** In links of mails: in which organization the request was that caused them. A mail program sends no headers of a shop. */
const parameter = "organizationId"

/** A link that leads back to the organization it was asked for in; links of the default one stay as they are. */
export const linkIn = (url: string, organizationId: string, byDefault: string): string => {
  if (organizationId === byDefault) return url
  const link = new URL(url)
  link.searchParams.set(parameter, organizationId)
  return link.href
}

/** Whether anything may come of a request that belongs to an organization: a mail, or the claim of a guest's orders. */
const concernsStore = (method: string, path: string): boolean =>
  method !== "GET" || path.endsWith("/verify-email") || path.includes("/callback/")

/** Finds the organization of requests under `/api/auth`. */
export class RequestStore extends Context.Service<RequestStore, {
  /**
   * What the link names that was followed, else what `auth.storeResolver` says, else the default one, also in a strict
   * deployment (contract, platform §6). Who names an organization gets nothing there but what his own address has.
   */
  readonly organizationOf: (request: Request) => Effect.Effect<string>
}>()("stoa/layers/auth/RequestStore") {
  static readonly layer = Layer.effect(
    RequestStore,
    Effect.gen(function*() {
      const { organizationOf } = yield* StoreResolution
      const { exists } = yield* Organizations
      const { defaultOrganizationId } = yield* StoreSettings
      return {
        organizationOf: Effect.fnUntraced(function*(request: Request) {
          const url = new URL(request.url)
          if (!concernsStore(request.method, url.pathname)) return defaultOrganizationId
          const named = url.searchParams.get(parameter)
          if (named !== null && (yield* exists(named))) return named
          const asked = { method: request.method, url: `${url.pathname}${url.search}` }
          return yield* Effect.catchTag(
            organizationOf(Headers.fromInput(request.headers), asked),
            "OrgResolutionFailed",
            () => Effect.succeed(defaultOrganizationId)
          )
        })
      }
    })
  ).pipe(Layer.provide(StoreResolution.layer))
}
