import { Clock, Effect, Redacted, Schema } from "effect"
import type { Outbound, OutboundError } from "stoa/plugin"
import { type AppWebhooks, type ChannelOAuth, isSigned, type WebhookRequest } from "../ChannelAdapter.ts"
import { type ChannelError, channelError, ChannelRefused, ChannelUnavailable } from "../ChannelErrors.ts"
import type { ComplianceRequest } from "../ChannelRecords.ts"

/** An app of the Shopify Partner Dashboard. */
export interface ShopifyAppOptions {
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted<string>
  readonly scopes: ReadonlyArray<string>
}

/** Credentials of a store: an access token of an app, or the keys of a custom app that gets tokens for them. */
export const ShopifyCredentials = Schema.Union([
  Schema.Struct({
    accessToken: Schema.NonEmptyString,
    refreshToken: Schema.optional(Schema.NonEmptyString),
    expiresAt: Schema.optional(Schema.String),
    clientId: Schema.optional(Schema.NonEmptyString),
    clientSecret: Schema.optional(Schema.NonEmptyString)
  }),
  Schema.Struct({ clientId: Schema.NonEmptyString, clientSecret: Schema.NonEmptyString })
])
export type ShopifyCredentials = typeof ShopifyCredentials.Type

const shopDomain = /^https:\/\/[a-z0-9][a-z0-9-]*\.myshopify\.com$/

/** Secrets of the app go to no other host: a person who names a store must not choose where they are sent. */
export const isShopDomain = (domain: string): boolean => shopDomain.test(domain)

/** When credentials have to be renewed; keys without a token, at once. */
export const shopifyExpiry = (credentials: ShopifyCredentials): Date | null => {
  if (!("accessToken" in credentials)) return new Date(0)
  return credentials.expiresAt === undefined ? null : new Date(credentials.expiresAt)
}

const Token = Schema.Struct({
  access_token: Schema.NonEmptyString,
  expires_in: Schema.optional(Schema.Finite),
  refresh_token: Schema.optional(Schema.NonEmptyString)
})

/** Classifies an error of `outbound`: a shop that is frozen (402) or locked (423) may be open again later. */
export const shopifyError = (error: OutboundError): ChannelError =>
  error._tag === "OutboundRejected" && (error.status === 402 || error.status === 423)
    ? new ChannelUnavailable({ message: error.message })
    : channelError(error)

const tokenFor = Effect.fnUntraced(function*(http: Outbound, domain: string, grant: object) {
  const url = `${domain}/admin/oauth/access_token`
  const token = yield* Effect.mapError(
    http.json(Token, { url, body: grant }),
    (error) =>
      // A page of a proxy is no refusal.
      Schema.isSchemaError(error)
        ? new ChannelUnavailable({ message: "The store gave no token." })
        : shopifyError(error)
  )
  const now = yield* Clock.currentTimeMillis
  return {
    accessToken: token.access_token,
    ...(token.refresh_token !== undefined && { refreshToken: token.refresh_token }),
    ...(token.expires_in !== undefined && { expiresAt: new Date(now + token.expires_in * 1_000).toISOString() })
  }
})

/** The next token of a store: by its refresh token, or by the keys of a custom app. */
export const renewShopify = (
  http: Outbound,
  domain: string,
  credentials: ShopifyCredentials,
  app: ShopifyAppOptions | undefined
) => {
  const { clientId, clientSecret } = credentials
  if (clientId !== undefined && clientSecret !== undefined) {
    const grant = { client_id: clientId, client_secret: clientSecret, grant_type: "client_credentials" }
    return Effect.map(tokenFor(http, domain, grant), (token) => ({ ...token, clientId, clientSecret }))
  }
  if (app === undefined || !("refreshToken" in credentials)) {
    return Effect.fail(new ChannelRefused({ message: "The token has ended, and there is none to renew it with." }))
  }
  return tokenFor(http, domain, {
    client_id: app.clientId,
    client_secret: Redacted.value(app.clientSecret),
    grant_type: "refresh_token",
    refresh_token: credentials.refreshToken
  })
}

/** Whether Shopify signed the query: its parameters without `hmac`, in order of their names. */
const isGenuineQuery = (query: URLSearchParams, secret: Redacted.Redacted<string>): boolean => {
  const signed = new URLSearchParams([...query].filter(([name]) => name !== "hmac" && name !== "signature"))
  signed.sort()
  const text = [...signed].map(([name, value]) => `${name}=${value}`).join("&")
  return isSigned(text, query.get("hmac") ?? undefined, secret, "hex")
}

/** Connects stores by consent to an app, with tokens that end and are renewed. */
export const shopifyOAuth = ({ clientId, clientSecret, scopes }: ShopifyAppOptions): ChannelOAuth => ({
  consentUrl: ({ domain, redirectUri, state }) => {
    const query = new URLSearchParams({
      client_id: clientId,
      scope: scopes.join(","),
      redirect_uri: redirectUri,
      state
    })
    return `${domain}/admin/oauth/authorize?${query}`
  },
  storeOf: ({ query }) => isGenuineQuery(query, clientSecret) ? query.get("shop") : undefined,
  complete: ({ domain, http, query }) =>
    tokenFor(http, domain, {
      client_id: clientId,
      client_secret: Redacted.value(clientSecret),
      code: query.get("code") ?? "",
      expiring: "1"
    })
})

/** Whether Shopify signed a webhook with the secret of the app. */
export const isGenuineShopify = ({ body, headers }: WebhookRequest, secret: Redacted.Redacted<string>): boolean =>
  isSigned(body, headers["x-shopify-hmac-sha256"], secret)

const RemoteId = Schema.Union([Schema.String, Schema.Finite])
const Compliance = Schema.fromJsonString(Schema.Struct({
  customer: Schema.optional(Schema.Struct({ email: Schema.optional(Schema.NullOr(Schema.String)) })),
  orders_requested: Schema.optional(Schema.Array(RemoteId)),
  orders_to_redact: Schema.optional(Schema.Array(RemoteId))
}))
const readCompliance = Schema.decodeUnknownOption(Compliance)

const topics: Readonly<Record<string, ComplianceRequest["kind"]>> = {
  "customers/data_request": "customerData",
  "customers/redact": "forgetCustomer",
  "shop/redact": "forgetStore",
  "app/uninstalled": "uninstalled"
}

/** Requests about personal data, which Shopify sends to one address of an app. */
export const shopifyCompliance = ({ clientSecret }: ShopifyAppOptions): AppWebhooks => ({
  isGenuine: (request) => isGenuineShopify(request, clientSecret),
  read: ({ body, headers }) => {
    const topic = headers["x-shopify-topic"] ?? ""
    const kind = topics[topic]
    const read = readCompliance(Buffer.from(body).toString("utf8"))
    if (kind === undefined || read._tag === "None") return undefined
    const { customer, orders_requested: requested = [], orders_to_redact: redacted = [] } = read.value
    const isAboutCustomer = kind === "customerData" || kind === "forgetCustomer"
    return {
      deliveryId: headers["x-shopify-webhook-id"] ?? "",
      topic,
      domain: `https://${(headers["x-shopify-shop-domain"] ?? "").toLowerCase()}`,
      request: isAboutCustomer
        ? { kind, email: customer?.email ?? null, remoteOrderIds: [...requested, ...redacted].map(String) }
        : { kind }
    }
  }
})
