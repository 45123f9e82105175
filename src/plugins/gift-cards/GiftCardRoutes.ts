import { DateTime, Effect, Schema, Struct } from "effect"
import {
  about,
  CurrencyCode,
  CustomerId,
  Email,
  FreeText,
  group,
  listOf,
  MinorUnits,
  Moment,
  StorableObject,
  Text,
  Until,
  type View
} from "stoa/plugin"
import { importCards } from "./CardImports.ts"
import {
  BalanceView,
  type Card,
  cards,
  CardView,
  cardView,
  CardWithTransactions,
  money,
  NewCardView,
  ofStatus,
  statuses,
  transactionView
} from "./GiftCard.ts"
import { plainCode } from "./GiftCardCode.ts"
import { GiftCards, type IssuedCard } from "./GiftCards.ts"
import { balanceOf, Code } from "./GuessedCodes.ts"

const routes = group("Gift cards", "/gift-cards")
const permission = "gift-cards:admin"
const CardAmount = MinorUnits.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000_000_000 }))
const Note = FreeText.check(Schema.isBetweenLength(1, 500))
const shown = (card: Card) => Effect.map(DateTime.nowAsDate, (at) => cardView(card, at))
const view: View<typeof cards, typeof CardView.Type> = {
  success: CardView,
  show: (rows) => Effect.map(DateTime.nowAsDate, (at) => rows.map((card) => cardView(card, at)))
}
const shownWithCode = ({ card, ...codes }: IssuedCard) => Effect.map(shown(card), (view) => ({ ...view, ...codes }))

const Issue = Schema.Struct({
  amount: CardAmount,
  currency: CurrencyCode,
  purchaserId: Schema.optional(CustomerId.annotate({ description: "The customer who sees it at /me/gift-cards." })),
  recipientEmail: Schema.optional(Email.annotate({ description: "Gets the code by mail." })),
  senderName: Schema.optional(Text),
  personalMessage: Schema.optional(FreeText.check(Schema.isMaxLength(500))).pipe(
    about("Words of the giver, sent with the code.")
  ),
  deliverAt: Schema.optional(Moment.annotate({ description: "When the mail is sent. Default: at once." })),
  expiresAt: Schema.optional(
    Until.annotate({ description: "A date counts in full. Default: by the option `defaultExpiryDays`." })
  ),
  singlePurpose: Schema.optional(
    Schema.Boolean.annotate({
      description: "Taxed when it was sold, and not when it pays. Default: the option `singlePurpose`."
    })
  ),
  metadata: Schema.optional(StorableObject)
})

const Imported = Schema.Struct({
  code: Schema.String.check(
    Schema.makeFilter((code) =>
      /^[A-Z0-9]{8,30}$/.test(plainCode(code)) || "must have 8 to 30 letters and digits, beside hyphens and spaces."
    )
  ).pipe(about("The code that people have. Case, hyphens and spaces do not count.")),
  ...Struct.pick(Issue.fields, ["currency", "expiresAt", "singlePurpose", "metadata"]),
  amount: CardAmount.annotate({ description: "Amount that is left on it, in minor units." })
})

const holders = "Who has the code may see what is on the card."

export const giftCardRoutes = [
  routes.post("/", {
    summary: "Issue a gift card",
    description: "Only this answer has the code. 404 without the customer; 422 above `maxBalancePerCard`.",
    permission,
    input: Issue,
    strict: true,
    success: NewCardView
  }).handle(({ input }) => GiftCards.use(({ issue }) => Effect.flatMap(issue(input), shownWithCode))),
  routes.post("/import", {
    summary: "Import gift cards of another system with the codes that people have",
    description: "All or none. Codes that the store knows are left as they are, so that a list can be sent again.",
    permission,
    input: Schema.Struct({
      cards: Schema.Array(Imported).check(Schema.isBetweenLength(1, 500))
    }),
    strict: true,
    success: Schema.Struct({
      imported: Schema.Int.pipe(about("Cards that are new.")),
      known: Schema.Int.pipe(about("Cards that the store had already."))
    })
  }).handle(({ db, input }) => importCards(db, input.cards)),
  listOf(routes, "/", cards, {
    summary: "List gift cards",
    permission,
    filters: ["purchaserId", "currency", "lastFour", "sourceOrderId"],
    query: { status: Schema.optional(Schema.Literals(statuses)), currency: Schema.optional(CurrencyCode) },
    view,
    answer: ({ db, page, query: { status }, where }) =>
      Effect.flatMap(
        DateTime.nowAsDate,
        (now) => db.table(cards).page({ ...where, ...(status && ofStatus(status, now)) }, page)
      )
  }),
  routes.get("/:id", { summary: "Get a gift card with its transactions", permission, success: CardWithTransactions })
    .handle(({ db, params: { id } }) =>
      Effect.gen(function*() {
        const card = yield* (yield* GiftCards).get(id)
        const entries = yield* db.table(money.entries).list({ accountId: id }, { order: ["-number"], limit: 1000 })
        return { ...(yield* shown(card)), transactions: entries.map(transactionView) }
      })
    ),
  routes.post("/:id/code", {
    summary: "Replace the code of a gift card",
    description: "Only this answer has the new code; the old one is unknown from now on. 409 for a disabled card.",
    permission,
    success: NewCardView
  }).handle(({ params }) => GiftCards.use(({ replaceCode }) => Effect.flatMap(replaceCode(params.id), shownWithCode))),
  routes.post("/:id/send", {
    summary: "Send a gift card again",
    description:
      "With a new code: the old one is unknown from now on. 409 for a disabled card; 422 for one without an address.",
    permission,
    input: Schema.Struct({
      recipientEmail: Schema.optional(Email.annotate({ description: "Default: the card's." }))
    }),
    strict: true,
    success: CardView
  }).handle(({ input, params }) =>
    GiftCards.use(({ sendAgain }) => Effect.flatMap(sendAgain(params.id, input.recipientEmail), shown))
  ),
  routes.post("/:id/disable", { summary: "Disable a gift card for good", permission, success: CardView })
    .handle(({ params }) => GiftCards.use(({ disable }) => Effect.flatMap(disable(params.id), shown))),
  routes.post("/:id/adjust", {
    summary: "Adjust the balance of a gift card",
    description: "409 for a disabled card; 422 where the balance would leave 0 … `initialAmount`.",
    permission,
    input: Schema.Struct({
      delta: MinorUnits.check(Schema.makeFilter((delta) => delta !== 0 || "must not be 0.")),
      note: Note
    }),
    strict: true,
    success: CardView
  }).handle(({ input: { delta, note }, params }) =>
    GiftCards.use(({ adjust }) => Effect.flatMap(adjust(params.id, delta, note), shown))
  ),
  routes.post("/:id/top-up", {
    summary: "Top up a gift card",
    description: "Raises balance and `initialAmount`. 409 for a disabled card; 422 above `maxBalancePerCard`.",
    permission,
    input: Schema.Struct({ amount: CardAmount, note: Schema.optional(Note) }),
    strict: true,
    success: CardView
  }).handle(({ input: { amount, note }, params }) =>
    GiftCards.use(({ topUp }) => Effect.flatMap(topUp(params.id, amount, note), shown))
  ),
  routes.post("/check-balance", {
    summary: "Get the balance of a code",
    description: "404 for an unknown code; 429 after ten tries a minute of an address, or of the first four signs.",
    public: holders,
    rate: "strict",
    input: Schema.Struct({ code: Code }),
    success: BalanceView
  }).handle((call) => balanceOf(call, call.input.code)),
  routes.get("/:code/balance", {
    summary: "Get the balance of a code; the same as check-balance",
    public: holders,
    rate: "strict",
    params: { code: Code },
    success: BalanceView
  }).handle((call) => balanceOf(call, call.params.code))
]
