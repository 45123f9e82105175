import { Effect, Redacted, Schema } from "effect"
import { CurrencyCode, type OutboundError } from "stoa/plugin"
import {
  channelAdapter,
  type ChannelError,
  channelError,
  type ChannelProduct,
  ChannelRefused
} from "stoa/plugins/channel-connector"

/*
 * An adapter for shops with a JSON interface: products in pages, and stock that is set only where it is as expected, once for a key.
 * test/examples/CornerShop.test.ts runs the contract of adapters against it.
 */

const Product = Schema.Struct({
  id: Schema.String,
  slug: Schema.String,
  title: Schema.String,
  cents: Schema.Int,
  units: Schema.Int
})
const Products = Schema.Struct({ products: Schema.Array(Product), next: Schema.NullOr(Schema.String) })

const channelProduct = ({ cents, id, slug, title, units }: typeof Product.Type): ChannelProduct => ({
  externalId: id,
  slug,
  draft: {
    product: { type: "product", status: "active", isVisible: true, attributes: [{ title }] },
    categories: [],
    brands: [],
    sold: [{
      isVariant: false,
      variant: { manageInventory: true },
      options: {},
      metadata: {},
      prices: [{ amount: (cents / 100).toFixed(2) }],
      stock: { onHand: units }
    }],
    warnings: []
  },
  unitIds: [id]
})

const refused = (error: OutboundError | Schema.SchemaError): ChannelError =>
  Schema.isSchemaError(error)
    ? new ChannelRefused({ message: "The shop answers in another form." })
    : channelError(error)

const hasStatus = (status: number) => (error: OutboundError | Schema.SchemaError): boolean =>
  error._tag === "OutboundRejected" && error.status === status

export const cornerShop = channelAdapter({
  id: "corner-shop",
  capabilities: ["catalog", "stock"],
  credentialsForm: "{ apiKey }",
  credentials: Schema.Struct({ apiKey: Schema.NonEmptyString }),
  connect: ({ credentials, domain, http }) => {
    const headers = { authorization: `Bearer ${Redacted.value(credentials).apiKey}` }
    const get = <A>(schema: Schema.Codec<A, unknown>, path: string) =>
      http.json(schema, { url: `${domain}${path}`, headers })
    /** Undefined without the product. */
    const find = (id: string) =>
      get(Product, `/products/${encodeURIComponent(id)}`).pipe(
        Effect.catchIf(hasStatus(404), () => Effect.succeed(undefined)),
        Effect.mapError(refused)
      )
    return {
      verify: get(Schema.Unknown, "/products?limit=1").pipe(Effect.mapError(refused), Effect.asVoid),
      catalog: {
        currency: Effect.succeed(CurrencyCode.make("EUR")),
        page: (cursor, limit) =>
          get(Products, `/products?limit=${limit}&after=${cursor ?? ""}`).pipe(
            Effect.map(({ next, products }) => ({ items: products.map(channelProduct), nextCursor: next })),
            Effect.mapError(refused)
          ),
        product: (id) => Effect.map(find(id), (found) => found && channelProduct(found))
      },
      stock: {
        read: (ids) =>
          Effect.map(
            Effect.forEach(ids, find, { concurrency: 4 }),
            (found) => found.flatMap((one) => one === undefined ? [] : [{ externalId: one.id, available: one.units }])
          ),
        set: (changes, idempotencyKey) =>
          Effect.forEach(changes, ({ available, expected, externalId }) =>
            http.json(Product, {
              method: "PUT",
              url: `${domain}/products/${encodeURIComponent(externalId)}/units`,
              headers: { ...headers, "if-match": `"${expected}"` },
              body: { units: available },
              idempotencyKey: `${idempotencyKey}-${externalId}`
            }).pipe(
              Effect.map(({ units }) => ({ externalId, available: units, outcome: "set" as const })),
              Effect.catchIf(
                hasStatus(412),
                () =>
                  Effect.map(
                    get(Product, `/products/${encodeURIComponent(externalId)}`),
                    ({ units }) => ({ externalId, available: units, outcome: "differs" as const })
                  )
              ),
              Effect.mapError(refused)
            ))
      }
    }
  }
})
