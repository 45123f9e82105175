import { DateTime, Effect, Schema } from "effect"
import { apiError, isUuid, NotFound, type PluginContext, type RawCall, Text } from "stoa/plugin"
import { type ChannelAdapter, type ChannelOAuth, isSame } from "./ChannelAdapter.ts"
import { Channels, ConnectorNotFound, manage, routes } from "./ChannelOptions.ts"
import { connectStore, domainFor } from "./Stores.ts"
import { grants } from "./StoreTables.ts"

const grantMs = 5 * 60_000

class Unsupported extends apiError(
  "OAuthUnsupported",
  { status: 501, code: "OAUTH_UNSUPPORTED" },
  (provider: string) => `Stores of ${provider} are not connected by consent.`
) {}
class NotConfigured extends apiError(
  "OAuthNotConfigured",
  { status: 501, code: "OAUTH_NOT_CONFIGURED" },
  "Consent needs the option publicUrl of the plugin."
) {}
class DomainRequired extends apiError(
  "StoreDomainRequired",
  { status: 400, code: "STORE_DOMAIN_REQUIRED" },
  "shop or store must be the address of the store."
) {}
class InvalidState extends apiError(
  "InvalidOAuthState",
  { status: 403, code: "INVALID_OAUTH_STATE" },
  "This answer belongs to no consent that was asked for, or is too late."
) {}
class StateReplayed extends apiError(
  "OAuthStateReplayed",
  { status: 403, code: "OAUTH_STATE_REPLAYED" },
  "This consent was used already."
) {}
class StoreMismatch extends apiError(
  "OAuthStoreMismatch",
  { status: 400, code: "OAUTH_STORE_MISMATCH" },
  "Another store consented than the one that was asked."
) {}
class ConnectionFailed extends apiError(
  "StoreConnectionFailed",
  { status: 422, code: "STORE_CONNECTION_FAILED" },
  "The store gave no credentials. Begin again."
) {}

const oauthOf = Effect.fnUntraced(function*(provider: string) {
  const { adapterOf, settings } = yield* Channels
  const adapter = yield* adapterOf(provider)
  if (adapter.oauth === undefined) return yield* new Unsupported(provider)
  if (settings.publicUrl === undefined) return yield* new NotConfigured()
  return { adapter, oauth: adapter.oauth, publicUrl: settings.publicUrl }
})

/** A state is the id of its grant and a digest, so that none can be made up. */
const stateOf = ({ digests }: Pick<PluginContext, "digests">, id: string) =>
  digests(`oauth ${id}`).map((digest) => `${id}.${digest}`)

const startRoute = (context: PluginContext) =>
  routes.raw("GET", "/oauth/:provider/start", {
    summary: "Start to connect a store by consent",
    description: "Redirects to the provider, where the merchant consents within five minutes.",
    permission: manage,
    params: { provider: Text },
    query: { shop: Schema.optional(Schema.String), store: Schema.optional(Schema.String) },
    errors: [ConnectorNotFound, Unsupported, NotConfigured, DomainRequired]
  }, ({ db, params: { provider }, query: { shop, store } }) =>
    Effect.gen(function*() {
      const { adapter, oauth, publicUrl } = yield* oauthOf(provider)
      const sent = shop ?? store ?? ""
      if (sent === "") return yield* new DomainRequired()
      const storeDomain = yield* domainFor(adapter, sent, context.config)
      const endsAt = DateTime.toDateUtc(DateTime.add(yield* DateTime.now, { milliseconds: grantMs }))
      const { id } = yield* db.table(grants).insert({ provider, storeDomain, endsAt })
      const redirectUri = `${publicUrl}/api/channels/oauth/${provider}/callback`
      const [state = ""] = stateOf(context, id)
      return { status: 302, headers: { location: oauth.consentUrl({ domain: storeDomain, state, redirectUri }) } }
    }))

interface Consent {
  readonly context: PluginContext
  readonly adapter: ChannelAdapter
  readonly oauth: ChannelOAuth
  readonly id: string
  readonly answer: { readonly query: URLSearchParams; readonly body: Uint8Array }
  readonly consented: string | null
}

/** Uses a grant, once, and connects its store; nothing is sent to a store that is not the one of the grant. */
const connected = Effect.fnUntraced(function*({ adapter, answer, consented, context, id, oauth }: Consent) {
  const { http } = yield* Channels
  return yield* context.ofRecord(grants, id)((call) =>
    Effect.gen(function*() {
      const grant = yield* call.db.table(grants).get(id)
      if (
        grant.provider !== adapter.id || grant.endsAt <= (yield* DateTime.nowAsDate)
      ) return yield* new InvalidState()
      yield* Effect.mapError(
        call.db.table(grants).update(id, { isUsed: true }, { isUsed: false }),
        () => new StateReplayed()
      )
      const domain = grant.storeDomain
      if (consented !== null && (yield* domainFor(adapter, consented, context.config)) !== domain) {
        return yield* new StoreMismatch()
      }
      const credentials = yield* Effect.mapError(
        oauth.complete({ ...answer, domain, http }),
        () => new ConnectionFailed()
      )
      return yield* connectStore(call, { adapter, domain, credentials })
    })
  )
})

const callback = (context: PluginContext) => (call: RawCall<unknown, { readonly provider: string }>) =>
  Effect.gen(function*() {
    const { adapter, oauth } = yield* oauthOf(call.params.provider)
    const query = new URL(call.url, "http://callback").searchParams
    const answer = { query, body: call.body }
    const state = query.get("state") ?? ""
    const [id = ""] = state.split(".")
    if (!isUuid(id) || !stateOf(context, id).some((one) => isSame(state, one))) return yield* new InvalidState()
    const consented = oauth.storeOf(answer)
    if (consented === undefined) return yield* new InvalidState()
    const { id: storeId } = yield* connected({ context, adapter, oauth, id, answer, consented })
    const { settings } = yield* Channels
    const location = `${settings.postConnectRedirect}${
      settings.postConnectRedirect.includes("?") ? "&" : "?"
    }store=${storeId}`
    return { status: 302, headers: { location } }
  }).pipe(Effect.catchIf((error) => error instanceof NotFound, () => new InvalidState()))

const callbackOptions = {
  summary: "Connect the store of a merchant who has consented",
  description: "Redirects to `postConnectRedirect`. The state is good for one store, once, for five minutes.",
  public: "The browser of a merchant has a signed state in place of credentials.",
  params: { provider: Text },
  rate: "strict",
  errors: [
    ConnectorNotFound,
    Unsupported,
    NotConfigured,
    InvalidState,
    StateReplayed,
    StoreMismatch,
    ConnectionFailed
  ]
} as const

export const oauthRoutes = (context: PluginContext) => [
  startRoute(context),
  routes.raw("GET", "/oauth/:provider/callback", callbackOptions, callback(context)),
  routes.raw("POST", "/oauth/:provider/callback", callbackOptions, callback(context))
]
