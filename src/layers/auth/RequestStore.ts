import { Context, Effect, Layer } from "effect"
import { Headers } from "effect/http"
import { StoreSettings } from "../../domain/settings/StoreSettings.ts"
import { Organizations } from "../../domain/tenancy/Organizations.ts"
import { StoreResolution } from "../access/StoreResolution.ts"

/** The organization of the current request under `/api/auth`; undefined outside a request. */
export const RequestOrganization = Context.Reference<string | undefined>("stoa/layers/auth/RequestOrganization", {
  defaultValue: () => undefined
})

/** The organization of the request that sent a mail, in its link: a mail program sends no headers of a shop. */
const parameter = "organizationId"

/** A link with the organization of its request; links of the default organization are unchanged. */
export const linkIn = (url: string, organizationId: string, byDefault: string): string => {
  if (organizationId === byDefault) return url
  const link = new URL(url)
  link.searchParams.set(parameter, organizationId)
  return link.href
}

/** Whether a request may send a mail or claim guest orders, which belong to an organization. */
const concernsStore = (method: string, path: string): boolean =>
  method !== "GET" || path.endsWith("/verify-email") || path.includes("/callback/")

/** Finds the organization of requests under `/api/auth`. */
export class RequestStore extends Context.Service<RequestStore>()("stoa/layers/auth/RequestStore", {
  make: Effect.gen(function*() {
    const { organizationOf } = yield* StoreResolution
    const { exists } = yield* Organizations
    const { defaultOrganizationId } = yield* StoreSettings
    return {
      /**
       * The organization that the link names, else that of `auth.storeResolver`, else the default one, also in a strict
       * deployment (contract, platform §6). Naming an organization grants nothing there beyond the user's guest orders.
       */
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
}) {
  static readonly layer = Layer.effect(RequestStore, RequestStore.make).pipe(Layer.provide(StoreResolution.layer))
}
