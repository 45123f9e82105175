import { DateTime, Duration, Effect, Schema } from "effect"
import {
  Conflict,
  CustomerId,
  dueTask,
  type EventCall,
  idOf,
  mailTemplate,
  option,
  OrderId,
  type PluginContext,
  table,
  timestamp
} from "stoa/plugin"
import { requestOf } from "./ReviewsRepo.ts"

export const ReviewSettings = Schema.Struct({
  requestAfterDays: option(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 365 })), {
    default: 7,
    description: "Days after the delivery of an order when its customer is asked for reviews"
  }),
  linkDays: option(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 365 })), {
    default: 60,
    description: "Days for which the link in the mail to a guest can be used"
  }),
  reviewPage: option(
    Schema.String.check(
      Schema.isMaxLength(1_000),
      Schema.isPattern(/^https?:\/\//, { expected: "an address that begins with http or https" })
    ),
    {
      description:
        "Page of the shop where reviews are written. The mail links to it with `?order=<number>`, and for guests with `&token=<token>`. Without it no mail is sent"
    }
  )
})
export type ReviewSettings = typeof ReviewSettings.Type

/** Orders whose buyers are to be asked, once each; `dueAt` is null once that is done or decided against. */
export const requests = table("customer_review_requests", {
  orderId: idOf(OrderId).unique(),
  /** Null for a guest. */
  customerId: idOf(CustomerId).nullable,
  dueAt: timestamp.nullable,
  sentAt: timestamp.nullable
}, {
  indexes: [{ columns: ["dueAt"], where: "due_at is not null" }, { columns: ["customerId"] }],
  changeLog: false,
  counted: false,
  personal: { exempt: "A row has ids and times only, and keeps an order from being asked about twice." },
  atMost: { unbounded: "One for each order." }
})

export const requestMail = mailTemplate({
  name: "reviews/request",
  purpose: { category: "reviews" },
  data: Schema.Struct({ number: Schema.String, things: Schema.Array(Schema.String), link: Schema.String }),
  sample: { number: "ORD-1001", things: ["Red bicycle"], link: "https://shop.example/orders/1/review" },
  texts: {
    en: ({ link, number, things }, { storeName }) => ({
      subject: `How do you like what you bought at ${storeName}?`,
      paragraphs: [`Tell others about the things of your order ${number}:`, things.join(", ")],
      button: { label: "Write a review", url: link },
      notes: ["This is the only mail that asks about this order."]
    }),
    de: ({ link, number, things }, { storeName }) => ({
      subject: `Wie gefällt Ihnen Ihr Einkauf bei ${storeName}?`,
      paragraphs: [`Erzählen Sie anderen von Ihrer Bestellung ${number}:`, things.join(", ")],
      button: { label: "Bewertung schreiben", url: link },
      notes: ["Zu dieser Bestellung fragen wir nur dieses eine Mal."]
    })
  }
})

const Fulfilled = Schema.Struct({ status: Schema.Literal("fulfilled"), customerId: Schema.NullOr(CustomerId) })
export const daysAfter = (at: Date, days: number) => new Date(at.getTime() + Duration.toMillis(Duration.days(days)))

/** An order that is fulfilled is to be asked about, once: the event may come again, and the order be fulfilled again. */
export const awaitRequest = ({ requestAfterDays }: ReviewSettings) => ({ db, event }: EventCall) => {
  const { data } = event
  if (!Schema.is(Fulfilled)(data)) return Effect.void
  const dueAt = daysAfter(event.timestamp, requestAfterDays)
  return db.table(requests).insert({ orderId: OrderId.make(event.entityId), customerId: data.customerId, dueAt }).pipe(
    Effect.catchIf(Schema.is(Conflict), () => Effect.void)
  )
}

/** The token of a request's link. Nothing of it is stored. */
const linkToken = ({ digests }: Pick<PluginContext, "digests">, requestId: string): string =>
  `${requestId}.${digests(`link ${requestId}`)[0]}`

/** How long a parcel that never arrives is waited for, after the first time that the request was due. */
const longestWaitDays = 60

/**
 * Asks for reviews of the orders that are due. A parcel that is under way is waited for, and the days count from the last
 * delivery. Refunded orders, erased customers and those who have reviewed all are not asked.
 */
export const askForReviews = (host: PluginContext, { requestAfterDays, reviewPage }: ReviewSettings) =>
  dueTask(host, {
    slug: "reviews/request",
    schedule: "*/15 * * * *",
    of: requests,
    where: (now) => ({
      dueAt: { lte: now },
      ...(host.services.mail.isOn && reviewPage !== undefined ? {} : { id: { in: [] } })
    }),
    each: Effect.fnUntraced(function*({ createdAt, id, orderId }, { db, services }) {
      const row = db.table(requests)
      const now = yield* DateTime.nowAsDate
      const order = yield* db.use(requestOf)(orderId)
      if (order === undefined || !order.isFulfilled || order.email === null || order.things.length === 0) {
        return yield* row.update(id, { dueAt: null })
      }
      if (order.isUnderWay) {
        const next = daysAfter(now, 1)
        return yield* row.update(id, {
          dueAt: next > daysAfter(createdAt, requestAfterDays + longestWaitDays) ? null : next
        })
      }
      const due = order.deliveredAt === null ? now : daysAfter(order.deliveredAt, requestAfterDays)
      if (due > now) return yield* row.update(id, { dueAt: due })
      yield* row.update(id, { dueAt: null, sentAt: now })
      const { isGuest, number, things } = order
      const token = isGuest ? `&token=${encodeURIComponent(linkToken(host, id))}` : ""
      const data = { number, things, link: `${reviewPage}?order=${encodeURIComponent(number)}${token}` }
      return yield* services.mail.send(requestMail, { to: order.email, data, key: orderId })
    })
  })
