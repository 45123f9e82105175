import { DateTime, Effect, Schema } from "effect"
import { conflict, CustomerId, group, listOf, notFound, ownedBy } from "stoa/plugin"
import { addedCards, type Card, cards, CardView, cardView, isDisabled, mostAdded } from "./GiftCard.ts"
import { cardOf, Code } from "./GuessedCodes.ts"

class NotAdded extends notFound("AddedGiftCard", "You have not added this gift card to your account.") {}
class EndedCard extends conflict("GiftCardEnded", "The gift card is disabled.") {}

/** Shows a card to a customer who added it, without its buyer and receiver. */
const shown = (card: Card, at: Date): typeof CardView.Type => ({
  ...cardView(card, at),
  purchaserId: null,
  sourceOrderId: null,
  recipientEmail: null,
  metadata: {}
})

const routes = group("Gift cards", "/me/gift-cards")

export const ownCardRoutes = [
  listOf(routes, "/", cards, {
    summary: "List the gift cards that the customer has bought, or that staff gave them",
    auth: true,
    visible: ownedBy(cards, { customer: "purchaserId" }),
    view: {
      success: CardView,
      show: (rows) => Effect.map(DateTime.nowAsDate, (at) => rows.map((card) => cardView(card, at)))
    }
  }),
  routes.get("/added", {
    summary: "List the gift cards that the customer has added by their code",
    auth: true,
    success: Schema.Array(CardView)
  }).handle(({ db, services }) =>
    Effect.gen(function*() {
      const profile = yield* services.customers.existingProfile
      if (profile === null) return []
      const added = yield* db.table(addedCards).list({ customerId: CustomerId.make(profile.id) }, { limit: mostAdded })
      const rows = yield* db.table(cards).list({ id: { in: added.map(({ cardId }) => cardId) } })
      const at = yield* DateTime.nowAsDate
      return rows.map((card) => shown(card, at))
    })
  ),
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
      return shown(card, yield* DateTime.nowAsDate)
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
