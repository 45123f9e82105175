import { DateTime, Effect, Schema } from "effect"
import { conflict, CustomerId, group, listOf, notFound, type PluginCall, type Where } from "stoa/plugin"
import { addedCards, type Card, cards, CardView, cardView, isDisabled } from "./GiftCard.ts"
import { cardOf, Code } from "./GuessedCodes.ts"

class NotAdded extends notFound("AddedGiftCard", "You have not added this gift card to your account.") {}
class EndedCard extends conflict("GiftCardEnded", "The gift card is disabled.") {}

/** The cards that a customer sees: those that they bought or staff gave them, and those that they added. */
const own = Effect.fnUntraced(function*({ db, services }: Pick<PluginCall, "db" | "services">) {
  const profile = yield* services.customers.existingProfile
  const customers = profile === null ? [] : [CustomerId.make(profile.id)]
  const added = yield* db.table(addedCards).list({ customerId: { in: customers } }, { limit: 100 })
  const where: Where<typeof cards> = {
    or: [{ purchaserId: { in: customers } }, { id: { in: added.map(({ cardId }) => cardId) } }]
  }
  return where
})

/** A card for a customer: who bought it, and for whom, is for the one who bought it. */
const shownTo = (customerId: string | undefined, card: Card, at: Date): typeof CardView.Type => {
  const view = cardView(card, at)
  return card.purchaserId !== null && card.purchaserId === customerId
    ? view
    : { ...view, purchaserId: null, sourceOrderId: null, recipientEmail: null, metadata: {} }
}

const show = Effect.fnUntraced(function*(rows: ReadonlyArray<Card>, { services }: Pick<PluginCall, "services">) {
  const [profile, at] = [yield* services.customers.existingProfile, yield* DateTime.nowAsDate]
  return rows.map((card) => shownTo(profile?.id, card, at))
})

const routes = group("Gift cards", "/me/gift-cards")

export const ownCardRoutes = [
  listOf(routes, "/", cards, {
    summary: "List the gift cards of the customer",
    auth: true,
    visible: { columns: ["purchaserId"], seesAll: false, isFew: false, whereOf: own },
    view: { success: CardView, show }
  }),
  routes.post("/", {
    summary: "Add a gift card to one's account",
    description: "It can still be spent by all who have the code. 404 for an unknown code; 429 as for check-balance.",
    auth: true,
    rate: "strict",
    input: Schema.Struct({ code: Code }),
    strict: true,
    success: CardView
  }).handle((call) =>
    Effect.gen(function*() {
      const card = yield* cardOf(call, call.input.code)
      if (isDisabled(card)) return yield* new EndedCard()
      const customerId = CustomerId.make((yield* call.services.customers.ownProfile).id)
      yield* call.db.table(addedCards).upsert({ cardId: card.id, customerId }, ["customerId", "cardId"])
      return shownTo(customerId, card, yield* DateTime.nowAsDate)
    })
  ),
  routes.delete("/:id", {
    summary: "Remove a gift card that one has added to one's account",
    description: "404 for others, and for cards that one has bought.",
    auth: true
  }).handle(({ db, params, services }) =>
    Effect.gen(function*() {
      const customerId = CustomerId.make((yield* services.customers.ownProfile).id)
      const added = yield* db.table(addedCards).first({ customerId, cardId: params.id })
      if (added === undefined) return yield* new NotAdded()
      yield* db.table(addedCards).delete(added.id)
    })
  )
]
