import { Effect, Redacted, Schema } from "effect"
import { createHmac } from "node:crypto"
import { CurrencyCode, type SoldLine } from "stoa/plugin"
import {
  type AdapterDefinition,
  channelAdapter,
  type ChannelError,
  type ChannelProduct,
  ChannelRefused,
  ChannelUnavailable,
  CredentialsRefused,
  type Hint,
  isSigned,
  type OrderSlice,
  type RefusedWrite,
  type RemoteField,
  type RemoteOrder,
  type Subscription,
  type ValueOf,
  type WebhookRequest
} from "../index.ts"

const Keys = Schema.Struct({
  key: Schema.String.check(Schema.isMinLength(8)),
  expiresAt: Schema.optional(Schema.String)
})

/** A product of the store in memory. */
export const memoryProduct = (n: number, line: Partial<SoldLine> = {}): ChannelProduct => ({
  externalId: `p${n}`,
  slug: `thing-${n}`,
  draft: {
    product: { type: "product", status: "active", isVisible: true, attributes: [{ title: `Thing ${n}` }] },
    categories: [],
    brands: [],
    sold: [{
      isVariant: true,
      variant: { sku: `T-${n}`, manageInventory: true },
      options: {},
      metadata: {},
      prices: [{ amount: "10.00" }],
      stock: { onHand: 5 },
      ...line
    }],
    warnings: []
  },
  unitIds: [`v${n}`]
})

const Body = Schema.Struct({ topic: Schema.String, id: Schema.String })
const readBody = Schema.decodeUnknownOption(Schema.fromJsonString(Body))

/** A store in memory, which behaves as a test says: shops of one instance share what they have. */
export const memoryStore = () => {
  const state = {
    /** Keys that are accepted. */
    keys: new Set(["right-key-1"]),
    products: [1, 2, 3, 4, 5].map((n) => memoryProduct(n)),
    /** Levels that are not those of its products; undefined: it does not have the variant. */
    levels: new Map<string, number | null | undefined>(),
    /** By our id. */
    orders: new Map<string, RemoteOrder>(),
    /** Everything that was sent. */
    slices: [] as Array<OrderSlice>,
    /** Keys of levels that were set. */
    made: new Set<string>(),
    /** Takes orders, levels and fields, and answers with this error while it is there. */
    silence: undefined as ChannelError | undefined,
    /** Whether it cancels orders. */
    cancels: true,
    /** Fields of products but their titles, by product, target and key. */
    fields: new Map<string, string | null>(),
    /** What it makes of a value. */
    keeps: (value: string | null): string | null => value,
    /** Runs before fields are written. */
    beforeWrite: Effect.void as Effect.Effect<void>,
    subscriptions: new Map<string, Subscription>(),
    calls: [] as Array<string>,
    /** Fails each call with it while it is there. */
    failure: undefined as ChannelError | undefined,
    /** Runs before a renewal answers. */
    beforeRenewal: Effect.void as Effect.Effect<void>,
    renewed: 0,
    /** Ids of products that pages leave out. */
    hidden: new Set<string>(),
    /** Ids of products that it refuses to show. */
    refused: new Set<string>(),
    /** Answers without products first, and whether it has collected them then. */
    collects: undefined as "done" | "still" | undefined,
    /** Runs before a page answers. */
    beforePage: Effect.void as Effect.Effect<void>,
    /** Runs before a product is answered. */
    beforeProduct: Effect.void as Effect.Effect<void>,
    /** Runs before levels are answered. */
    beforeRead: Effect.void as Effect.Effect<void>
  }
  const levelOf = (externalId: string) =>
    state.levels.has(externalId) || !state.products.some(({ unitIds }) => unitIds.includes(externalId))
      ? state.levels.get(externalId)
      : 5
  const titleOf = ({ draft }: ChannelProduct) => {
    const texts: unknown = draft.product["attributes"]
    return Array.isArray(texts) && typeof texts[0]?.title === "string" ? String(texts[0].title) : null
  }
  const placeOf = (id: string, { remoteKey, target }: RemoteField) => `${id} ${target} ${remoteKey}`
  const valueOf = (product: ChannelProduct): ValueOf => (field) =>
    field.remoteKey === "title" ? titleOf(product) : state.fields.get(placeOf(product.externalId, field)) ?? null
  const setField = (product: ChannelProduct, field: RemoteField, sent: string | null) => {
    const value = state.keeps(sent)
    if (field.remoteKey !== "title") return void state.fields.set(placeOf(product.externalId, field), value)
    const { draft, ...rest } = product
    const changed = {
      ...rest,
      draft: { ...draft, product: { ...draft.product, attributes: [{ title: value ?? "" }] } }
    }
    state.products = state.products.map((one) => one.externalId === product.externalId ? changed : one)
  }
  const find = (id: string) => state.products.find(({ externalId }) => externalId === id)
  const definition: AdapterDefinition<typeof Keys.Type> = {
    id: "memory",
    capabilities: ["catalog", "pushCatalog", "stock", "orders", "webhooks"],
    credentialsForm: "{ key }",
    credentials: Keys,
    pushes: {
      batch: 2,
      defaults: [{ fieldPath: "attributes.en.title", target: "native", remoteKey: "title" }],
      accepts: ({ remoteKey, target }) => target === "meta" || target === "native" && remoteKey === "title"
    },
    expiresAt: ({ expiresAt }) => expiresAt === undefined ? null : new Date(expiresAt),
    admits: (domain) => !domain.includes("other."),
    connect: ({ credentials, webhookSecret }) => {
      const { key } = Redacted.value(credentials)
      const asked = <A>(name: string, answer: () => A): Effect.Effect<A, ChannelError> =>
        Effect.suspend(() => {
          state.calls.push(name)
          if (state.failure !== undefined) return Effect.fail(state.failure)
          return state.keys.has(key)
            ? Effect.sync(answer)
            : Effect.fail(new CredentialsRefused({ message: `The key ${key} is not accepted.` }))
        })
      return {
        verify: asked("verify", () => undefined),
        renew: Effect.suspend(() => {
          state.renewed++
          return Effect.andThen(
            state.beforeRenewal,
            asked("renew", () => {
              state.keys.add("renewed-key-1")
              return { key: "renewed-key-1", expiresAt: "2100-01-01T00:00:00Z" }
            })
          )
        }),
        catalog: {
          currency: asked("currency", () => CurrencyCode.make("EUR")),
          page: (cursor, limit) =>
            Effect.andThen(
              Effect.suspend(() => state.beforePage),
              state.collects === "still" && cursor !== null
                ? Effect.fail(new ChannelUnavailable({ message: "It collects its products.", retryAfterMs: 5_000 }))
                : asked("page", () => {
                  if (state.collects !== undefined && cursor === null) return { items: [], nextCursor: "0" }
                  const from = Number(cursor ?? 0)
                  const next = from + limit
                  const items = state.products.slice(from, next).filter(({ externalId }) =>
                    !state.hidden.has(externalId)
                  )
                  return { items, nextCursor: next < state.products.length ? String(next) : null }
                })
            ),
          product: (externalId) =>
            Effect.andThen(
              Effect.suspend(() => state.beforeProduct),
              state.refused.has(externalId)
                ? Effect.fail(new ChannelRefused({ message: `The store does not show ${externalId}.` }))
                : asked("product", () => state.products.find((one) => one.externalId === externalId))
            )
        },
        pushCatalog: {
          read: (products) =>
            asked("readFields", () =>
              new Map(products.flatMap(({ externalId }) => {
                const product = find(externalId)
                return product === undefined ? [] : [[externalId, valueOf(product)] as const]
              }))),
          write: (products) =>
            Effect.andThen(
              Effect.suspend(() => state.beforeWrite),
              Effect.tap(
                asked("write", () =>
                  new Map(products.map(({ externalId, values }): [string, RefusedWrite | ValueOf] => {
                    const product = find(externalId)
                    if (product === undefined || state.refused.has(externalId)) {
                      return [externalId, { refused: `The store does not take ${externalId}.` }]
                    }
                    for (const field of values) setField(find(externalId) ?? product, field, field.value)
                    return [externalId, valueOf(find(externalId) ?? product)]
                  }))),
                () => state.silence === undefined ? Effect.void : Effect.fail(state.silence)
              )
            )
        },
        stock: {
          read: (ids) =>
            Effect.andThen(
              Effect.suspend(() => state.beforeRead),
              asked("read", () =>
                ids.flatMap((externalId) => {
                  const available = levelOf(externalId)
                  return available === undefined ? [] : [{ externalId, available }]
                }))
            ),
          set: (changes, key) =>
            Effect.tap(
              asked("set", () =>
                changes.map(({ available, expected, externalId }) => {
                  const before = levelOf(externalId) ?? null
                  if (state.made.has(key)) return { externalId, available: before, outcome: "set" as const }
                  if (before !== expected) return { externalId, available: before, outcome: "differs" as const }
                  state.made.add(key)
                  state.levels.set(externalId, available)
                  return { externalId, available, outcome: "set" as const }
                })),
              () => state.silence === undefined ? Effect.void : Effect.fail(state.silence)
            )
        },
        orders: {
          push: (slice) =>
            Effect.tap(
              asked("push", () => {
                state.slices.push(slice)
                const remote = {
                  remoteOrderId: `r${state.slices.length}`,
                  remoteUrl: null,
                  status: "open" as const,
                  fulfillments: [],
                  refunds: []
                }
                state.orders.set(slice.orderId, remote)
                return remote
              }),
              () => state.silence === undefined ? Effect.void : Effect.fail(state.silence)
            ),
          lookup: (orderId) => asked("lookup", () => state.orders.get(orderId)),
          get: (id) => asked("get", () => [...state.orders.values()].find((one) => one.remoteOrderId === id)),
          changedSince: (_, cursor) =>
            asked("changedSince", () => {
              const ids = [...state.orders.values()].map(({ remoteOrderId }) => remoteOrderId)
              const from = Number(cursor ?? 0)
              return { ids: ids.slice(from, from + 2), nextCursor: from + 2 < ids.length ? `${from + 2}` : null }
            }),
          cancel: (id) =>
            Effect.flatMap(
              asked("cancel", () => [...state.orders].find(([, one]) => one.remoteOrderId === id)),
              (found) =>
                found === undefined
                  ? Effect.fail(new ChannelRefused({ message: "No such order." }))
                  : Effect.sync(() => {
                    if (state.cancels) state.orders.set(found[0], { ...found[1], status: "cancelled" })
                    return state.cancels
                  })
            )
        },
        webhooks: {
          topics: ["product", "order", "uninstalled"],
          list: asked("list", () => [...state.subscriptions.values()]),
          register: (topic, address, before) =>
            asked("register", () => {
              const externalId = before?.externalId ?? `w${state.subscriptions.size + 1}`
              state.subscriptions.set(externalId, { externalId, topic, address, isActive: true })
            }),
          unregister: (externalId) => asked("unregister", () => void state.subscriptions.delete(externalId)),
          isGenuine: ({ body, headers }) => isSigned(body, headers["x-memory-signature"], webhookSecret),
          read: ({ body, headers }) => {
            const read = readBody(new TextDecoder().decode(body))
            if (read._tag === "None") return undefined
            const { id, topic } = read.value
            const hint: Hint = topic === "uninstalled"
              ? { kind: "uninstalled" }
              : { kind: topic === "order" || topic === "stock" ? topic : "product", externalId: id }
            return { deliveryId: headers["x-memory-delivery"] ?? "", topic, hints: [hint] }
          }
        }
      }
    }
  }
  return { adapter: channelAdapter(definition), definition, state }
}

/** A request as the store in memory signs it. */
export const signedBy = (secret: string, body: string, deliveryId: string): WebhookRequest => ({
  body: Buffer.from(body),
  headers: {
    "x-memory-signature": createHmac("sha256", secret).update(body).digest("base64"),
    "x-memory-delivery": deliveryId
  }
})
