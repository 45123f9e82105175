import { Array, Effect, Schema } from "effect"
import type { ChannelStock } from "../ChannelAdapter.ts"
import type { StockChange, StockLevel, StockOutcome } from "../ChannelRecords.ts"
import { Done, gid, Int, List, NullOr, numberIn, refusal, type ShopifyCall, Struct, Text } from "./ShopifyApi.ts"

const Level = Struct({ id: Text, inventoryQuantity: NullOr(Int), inventoryItem: Struct({ tracked: Schema.Boolean }) })
const Levels = Struct({ variants: NullOr(Struct({ nodes: List(Level) })) })
const levelFields = "id inventoryQuantity inventoryItem { tracked }"
const levelsQuery = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on ProductVariant { ${levelFields} }
  ... on InventoryItem { variants(first: 1) { nodes { ${levelFields} } } } } }`

const Place = Struct({ location: Struct({ id: Text }), quantities: List(Struct({ quantity: Int })) })
const unitsAt = ({ quantities: [units] }: typeof Place.Type) => units?.quantity ?? 0
const placesQuery = `query ($id: ID!) { variant: productVariant(id: $id) { inventoryQuantity inventoryItem { id tracked
  inventoryLevels(first: 10) { nodes { location { id } quantities(names: ["available"]) { quantity } } } } } }`
const Places = Struct({
  variant: NullOr(Struct({
    inventoryItem: Struct({ id: Text, tracked: Schema.Boolean, inventoryLevels: Struct({ nodes: List(Place) }) }),
    inventoryQuantity: NullOr(Int)
  }))
})
const setQuery = `mutation ($input: InventorySetQuantitiesInput!, $key: String!) {
  done: inventorySetQuantities(input: $input) @idempotent(key: $key) { userErrors { code message } } }`
/** The second one: locations have changed since the first try. */
const stale: ReadonlyArray<unknown> = ["CHANGE_FROM_QUANTITY_STALE", "IDEMPOTENCY_KEY_PARAMETER_MISMATCH"]

/** Reads what all locations have together, and sets it at the one that has most. */
export const shopifyStock = (call: ShopifyCall): ChannelStock => {
  const read = (externalIds: ReadonlyArray<string>) =>
    Effect.forEach(Array.chunksOf(externalIds.map((id) => gid("ProductVariant", id)), 100), (ids) =>
      Effect.map(
        call(Struct({ nodes: List(NullOr(Schema.Union([Level, Levels]))) }), levelsQuery, { ids }),
        ({ nodes }) =>
          nodes.flatMap((node) => node === null ? [] : "id" in node ? node : node.variants?.nodes ?? []).map((
            { id, inventoryItem, inventoryQuantity }
          ): StockLevel => ({
            externalId: numberIn(id),
            available: inventoryItem.tracked ? inventoryQuantity ?? 0 : null
          }))
      )).pipe(Effect.map(Array.flatten))

  const set = Effect.fnUntraced(function*({ available, expected, externalId }: StockChange, idempotencyKey: string) {
    const differs = Effect.map(
      read([externalId]),
      (levels) => levels.map((level): StockOutcome => ({ ...level, outcome: "differs" }))
    )
    const { variant } = yield* call(Places, placesQuery, { id: gid("ProductVariant", externalId) })
    const [place] = (variant?.inventoryItem.inventoryLevels.nodes ?? []).toSorted((a, b) => unitsAt(b) - unitsAt(a))
    if (!variant?.inventoryItem.tracked || place === undefined || expected === null) return yield* differs
    const elsewhere = (variant.inventoryQuantity ?? 0) - unitsAt(place)
    const { done: { userErrors } } = yield* call(Done({}), setQuery, {
      key: `${idempotencyKey}:${externalId}`,
      input: {
        name: "available",
        reason: "correction",
        quantities: [{
          inventoryItemId: variant.inventoryItem.id,
          locationId: place.location.id,
          quantity: available - elsewhere,
          changeFromQuantity: expected - elsewhere
        }]
      }
    })
    if (userErrors.some(({ code }) => stale.includes(code))) return yield* differs
    if (userErrors.length > 0) return yield* refusal(userErrors)
    return [{ externalId, available, outcome: "set" as const }]
  })

  return {
    read,
    set: (changes, key) =>
      Effect.map(Effect.forEach(changes, (change) => set(change, key), { concurrency: 4 }), Array.flatten)
  }
}
