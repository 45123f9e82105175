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
/** The same key was taken before, and locations have changed since: what it asked for was made. */
const made = "IDEMPOTENCY_KEY_PARAMETER_MISMATCH"

/** Units of places so that they come to `available`: the fullest one has the difference, others give up what it cannot. */
const spread = (places: ReadonlyArray<typeof Place.Type>, available: number) => {
  let left = available
  const smallestFirst = places.toSorted((one, other) => unitsAt(one) - unitsAt(other))
  return smallestFirst.map((place, at) => {
    const quantity = at === places.length - 1 ? left : Math.min(unitsAt(place), left)
    left -= quantity
    return { place, quantity }
  })
}

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
    const now = (outcome: StockOutcome["outcome"]) =>
      Effect.map(read([externalId]), (levels) => levels.map((level): StockOutcome => ({ ...level, outcome })))
    const { variant } = yield* call(Places, placesQuery, { id: gid("ProductVariant", externalId) })
    const places = variant?.inventoryItem.inventoryLevels.nodes ?? []
    if (!variant?.inventoryItem.tracked || places.length === 0 || expected === null) return yield* now("differs")
    const units = places.reduce((sum, place) => sum + unitsAt(place), 0)
    // Sold since it was read: the fullest place is compared with the level that was expected of it.
    const unexpected = (variant.inventoryQuantity ?? 0) - expected
    const elsewhere = (variant.inventoryQuantity ?? 0) - units
    const parts = spread(places, available - elsewhere)
    const { done: { userErrors } } = yield* call(Done({}), setQuery, {
      key: `${idempotencyKey}:${externalId}`,
      input: {
        name: "available",
        reason: "correction",
        quantities: parts.flatMap(({ place, quantity }, at) => {
          const isFullest = at === parts.length - 1
          const changeFromQuantity = unitsAt(place) - (isFullest ? unexpected : 0)
          return isFullest || quantity !== unitsAt(place)
            ? [{
              inventoryItemId: variant.inventoryItem.id,
              locationId: place.location.id,
              quantity,
              changeFromQuantity
            }]
            : []
        })
      }
    })
    if (userErrors.some(({ code }) => code === made)) return yield* now("set")
    if (userErrors.some(({ code }) => code === "CHANGE_FROM_QUANTITY_STALE")) return yield* now("differs")
    if (userErrors.length > 0) return yield* refusal(userErrors)
    return [{ externalId, available, outcome: "set" as const }]
  })

  return {
    read,
    set: (changes, key) =>
      Effect.map(Effect.forEach(changes, (change) => set(change, key), { concurrency: 4 }), Array.flatten)
  }
}
