import { Effect, Redacted, Result, Schema } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"
import type { CurrencyCode, Outbound } from "stoa/plugin"
import { type ChannelError, CredentialsRefused } from "./ChannelErrors.ts"
import type {
  CatalogPage,
  ChannelProduct,
  ComplianceRequest,
  FieldValue,
  Hint,
  MappedField,
  OrderSlice,
  RemoteField,
  RemoteOrder,
  StockChange,
  StockLevel,
  StockOutcome
} from "./ChannelRecords.ts"

/** What a channel can do: the parts of `Channel` that its adapter gives. */
export type Capability = "catalog" | "pushCatalog" | "stock" | "orders" | "webhooks" | "listings"

/** A store with what its channel needs to call it. */
export interface StoreAccess<C> {
  readonly storeId: string
  /** `https://shop.example`: scheme, host and port. */
  readonly domain: string
  readonly credentials: Redacted.Redacted<C>
  /** Signs the webhooks that we register; an app with a secret of the provider ignores it. */
  readonly webhookSecret: Redacted.Redacted<string>
  /** Calls public addresses only, unless the deployment allows others. */
  readonly http: Outbound
}

/** A request as it came: signatures are over these bytes. */
export interface WebhookRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** A webhook of a store, read. */
export interface Delivery {
  /** The same for each try of one delivery. */
  readonly deliveryId: string
  readonly topic: string
  readonly hints: ReadonlyArray<Hint>
}

/** A topic that a store sends us. */
export interface Subscription {
  readonly externalId: string
  readonly topic: string
  readonly address: string
  readonly isActive: boolean
}

/** Reads products. */
export interface ChannelCatalog {
  /** Of its prices. */
  readonly currency: Effect.Effect<CurrencyCode, ChannelError>
  /** From the beginning with null. A page of a product that changes meanwhile may come twice, and none is left out. */
  readonly page: (
    cursor: string | null,
    limit: number
  ) => Effect.Effect<CatalogPage, ChannelError>
  /** Undefined when the store has none of this id. */
  readonly product: (externalId: string) => Effect.Effect<ChannelProduct | undefined, ChannelError>
}

/** Fields of a product of a store. */
export interface ProductFields {
  readonly externalId: string
  readonly fields: ReadonlyArray<RemoteField>
}

/** Fields of a product to write. */
export interface ProductValues {
  readonly externalId: string
  readonly values: ReadonlyArray<FieldValue>
}

/** The value of a field as the store has it; null: there is none. */
export type ValueOf = (field: RemoteField) => string | null

/** Why a store refused a product. */
export interface RefusedWrite {
  readonly refused: string
}

/** Writes fields of products, at most `pushes.batch` at once. */
export interface ChannelPush {
  /** Values of these fields by the id of the product; one that the store lacks is left out. */
  readonly read: (products: ReadonlyArray<ProductFields>) => Effect.Effect<ReadonlyMap<string, ValueOf>, ChannelError>
  /** Gives the values after the write. A product that is refused stops no other. Fields that are not named stay. */
  readonly write: (
    products: ReadonlyArray<ProductValues>
  ) => Effect.Effect<ReadonlyMap<string, ValueOf | RefusedWrite>, ChannelError>
}

/** Fields that an adapter with the capability `pushCatalog` writes. */
export interface PushableFields {
  /** The most products of one call. */
  readonly batch: number
  /** Mapping of stores without overrides. */
  readonly defaults: ReadonlyArray<MappedField>
  readonly accepts: (field: RemoteField) => boolean
}

/** Reads and sets stock. */
export interface ChannelStock {
  /** Takes ids of variants or of hints about stock; levels have those of variants. Variants that the store lacks have none. */
  readonly read: (externalIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<StockLevel>, ChannelError>
  /** Sets a level only where the store still has the expected one. The same key does it once. */
  readonly set: (
    changes: ReadonlyArray<StockChange>,
    idempotencyKey: string
  ) => Effect.Effect<ReadonlyArray<StockOutcome>, ChannelError>
}

/** Takes our orders. */
export interface ChannelOrders {
  /** Makes the order. A caller that has no answer asks `lookup` before it sends again. */
  readonly push: (slice: OrderSlice) => Effect.Effect<RemoteOrder, ChannelError>
  /** The order of our id; undefined when the store has none. */
  readonly lookup: (orderId: string) => Effect.Effect<RemoteOrder | undefined, ChannelError>
  readonly get: (remoteOrderId: string) => Effect.Effect<RemoteOrder | undefined, ChannelError>
  /** A page of the ids at the store of orders that changed since then, at least of ours; from the beginning with null. */
  readonly changedSince: (
    at: Date,
    cursor: string | null
  ) => Effect.Effect<{ readonly ids: ReadonlyArray<string>; readonly nextCursor: string | null }, ChannelError>
  /** False: the store cancels no orders for others, or no longer this one. */
  readonly cancel: (remoteOrderId: string) => Effect.Effect<boolean, ChannelError>
}

/** Tells us of changes. */
export interface ChannelWebhooks {
  readonly topics: ReadonlyArray<string>
  readonly list: Effect.Effect<ReadonlyArray<Subscription>, ChannelError>
  /** Subscribes to a topic, or turns the subscription on that was turned off. */
  readonly register: (
    topic: string,
    address: string,
    before: Subscription | undefined
  ) => Effect.Effect<void, ChannelError>
  /** Ends a subscription; one that is gone is none. */
  readonly unregister: (externalId: string) => Effect.Effect<void, ChannelError>
  /** Whether the store signed these bytes (`isSigned`). */
  readonly isGenuine: (request: WebhookRequest) => boolean
  /** Undefined for a body that is nonsense. */
  readonly read: (request: WebhookRequest) => Delivery | undefined
}

/** A file of our products for a channel that fetches or takes files. */
export interface ListingFile {
  readonly name: string
  readonly contentType: string
  readonly address: string
  readonly text: string
}

/** A store that can be called; making it calls nothing. */
export interface Channel {
  /** Makes the cheapest call that needs the credentials. */
  readonly verify: Effect.Effect<void, ChannelError>
  /** Gives credentials in place of those that end. */
  readonly renew?: Effect.Effect<unknown, ChannelError>
  readonly catalog?: ChannelCatalog
  readonly pushCatalog?: ChannelPush
  readonly stock?: ChannelStock
  readonly orders?: ChannelOrders
  readonly webhooks?: ChannelWebhooks
  readonly listings?: { readonly send: (file: ListingFile) => Effect.Effect<void, ChannelError> }
}

/** What a provider sends a merchant's browser back with. */
export interface OAuthAnswer {
  readonly query: URLSearchParams
  readonly body: Uint8Array
}

/** Connects stores by consent of the merchant. */
export interface ChannelOAuth {
  /** Where the merchant consents. */
  readonly consentUrl: (
    grant: { readonly domain: string; readonly state: string; readonly redirectUri: string }
  ) => string
  /** The store that consented, or null where the provider does not name it; undefined without a valid signature. */
  readonly storeOf: (answer: OAuthAnswer) => string | null | undefined
  /** Exchanges the answer for credentials. */
  readonly complete: (
    answer: OAuthAnswer & { readonly domain: string; readonly http: Outbound }
  ) => Effect.Effect<unknown, ChannelError>
}

/** Requests of a provider to the app and not to one store, signed with the secret of the app. */
export interface AppWebhooks {
  readonly isGenuine: (request: WebhookRequest) => boolean
  readonly read: (request: WebhookRequest) =>
    | {
      readonly deliveryId: string
      readonly topic: string
      readonly domain: string
      readonly request: ComplianceRequest
    }
    | undefined
}

interface Common {
  /** Name of the provider: `woocommerce`. Stores keep it. */
  readonly id: string
  readonly capabilities: ReadonlyArray<Capability>
  /** What credentials are, for people: `{ consumerKey, consumerSecret }`. */
  readonly credentialsForm: string
  /** Domains that may be a store of the provider. Default: any. */
  readonly admits?: (domain: string) => boolean
  readonly pushes?: PushableFields
  readonly oauth?: ChannelOAuth
  readonly app?: AppWebhooks
}

/** Credentials as they are stored, and when they end. */
export interface ReadCredentials {
  readonly text: string
  readonly expiresAt: Date | null
}

/** An adapter without the type of its credentials. */
export interface ChannelAdapter extends Common {
  /** Undefined when they are not of its form. */
  readonly readCredentials: (sent: unknown) => ReadCredentials | undefined
  /** With credentials as `readCredentials` gave them. */
  readonly connect: (access: StoreAccess<string>) => Effect.Effect<Channel, CredentialsRefused>
}

/** How an adapter is written. */
export interface AdapterDefinition<C> extends Common {
  readonly credentials: Schema.Codec<C, unknown>
  readonly expiresAt?: (credentials: C) => Date | null
  readonly connect: (access: StoreAccess<C>) => Channel
}

/** Makes an adapter. Errors, also defects of `connect`, must not contain credentials. */
export const channelAdapter = <C>(
  { connect, credentials, expiresAt, ...common }: AdapterDefinition<C>
): ChannelAdapter => {
  const decode = Schema.decodeUnknownResult(credentials)
  const encode = Schema.encodeSync(credentials)
  const stored = Schema.decodeUnknownResult(Schema.fromJsonString(credentials))
  return {
    ...common,
    readCredentials: (sent) => {
      const read = decode(sent)
      if (Result.isFailure(read)) return undefined
      return { text: JSON.stringify(encode(read.success)), expiresAt: expiresAt?.(read.success) ?? null }
    },
    connect: (access) => {
      const read = stored(Redacted.value(access.credentials))
      return Result.isFailure(read)
        ? Effect.fail(new CredentialsRefused({ message: `The credentials are not ${common.credentialsForm}.` }))
        : Effect.succeed(connect({ ...access, credentials: Redacted.make(read.success) }))
    }
  }
}

/** Compares texts without telling by its time where they differ. */
export const isSame = (given: string, expected: string): boolean => {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** Whether a signature is the HMAC-SHA256 of these bytes; an empty secret signs nothing. */
export const isSigned = (
  bytes: Uint8Array | string,
  signature: string | undefined,
  secret: Redacted.Redacted<string>,
  encoding: "base64" | "hex" = "base64"
): boolean => {
  const key = Redacted.value(secret)
  return key !== "" && isSame(signature ?? "", createHmac("sha256", key).update(bytes).digest(encoding))
}
