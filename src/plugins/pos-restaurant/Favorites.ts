import { Effect } from "effect"
import {
  CustomerId,
  EntityId,
  type EventCall,
  idOf,
  integerBetween,
  listOf,
  table,
  text,
  timestamp,
  visibleRows
} from "stoa/plugin"
import { Pos } from "../pos/index.ts"
import { operate, routes } from "./RestaurantOptions.ts"

/** How many sales of a customer had a thing. */
export const favorites = table("pos_customer_favorites", {
  customerId: idOf(CustomerId).existing("customer"),
  entityId: idOf(EntityId),
  itemName: text.about("Name of the product."),
  orderCount: integerBetween(1, 1_000_000_000).about("How often it was ordered."),
  lastOrderedAt: timestamp.about("When it was ordered last.")
}, {
  unique: [{ columns: ["customerId", "entityId"] }],
  personal: { of: "customerId", onErase: "delete" },
  atMost: { unbounded: "One for each thing that the customer bought." }
})

/** Counts what a known customer has bought. All of their sales are counted again, so that a repeat changes nothing. */
export const countFavorites = Effect.fn("Favorites.count")(function*({ db, event }: EventCall) {
  const { bought, sale } = yield* Pos
  const { transaction: { customerId, id } } = yield* sale(event.entityId)
  if (customerId === null) return
  yield* db.transaction(Effect.gen(function*() {
    // Of several at once the last one has counted the sales of all.
    yield* db.turn("favorites")
    const counted = yield* bought(customerId, id)
    yield* Effect.forEach(
      counted,
      ({ count: orderCount, entityId, lastAt: lastOrderedAt, title: itemName }) =>
        db.table(favorites).upsert(
          { customerId, entityId: EntityId.make(entityId), itemName, orderCount, lastOrderedAt },
          ["customerId", "entityId"]
        ),
      { discard: true }
    )
  }))
})

export const favoriteRoutes = [
  listOf(routes, "/customers/:id/favorites", favorites, {
    summary: "List what a customer buys most",
    description: "Counts sales at tills.",
    permission: operate,
    order: ["-orderCount", "-lastOrderedAt", "id"],
    visible: visibleRows(
      ["customerId"],
      ({ params }) => Effect.succeed({ customerId: CustomerId.make(params["id"] ?? "") })
    )
  })
]
