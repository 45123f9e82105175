import { DateTime, Effect, Schema } from "effect"
import { Conflict, defineTask, mailTemplate, type PluginContext } from "stoa/plugin"
import { requests } from "./Review.ts"
import { dueRequests } from "./ReviewsRepo.ts"

const perRun = 500

/** The mail that asks for reviews of what was delivered. */
export const requestMail = mailTemplate({
  name: "reviews/request",
  data: Schema.Struct({
    orderNumber: Schema.String,
    titles: Schema.Array(Schema.String),
    link: Schema.NullOr(Schema.String)
  }),
  sample: {
    orderNumber: "ORD-2026-000042",
    titles: ["Sourdough"],
    link: "https://shop.example/reviews?order=ORD-2026-000042"
  },
  texts: {
    en: ({ link, orderNumber, titles }, { storeName }) => ({
      subject: `How was your order from ${storeName}?`,
      paragraphs: [
        `You have had ${titles.join(", ")} for some days. What do you think?`,
        ...(link === null ? [] : [`Write a review: ${link}`])
      ],
      notes: [`Order ${orderNumber}`]
    }),
    de: ({ link, orderNumber, titles }, { storeName }) => ({
      subject: `Wie war Ihre Bestellung bei ${storeName}?`,
      paragraphs: [
        `Sie haben ${titles.join(", ")} seit einigen Tagen. Wie gefällt es Ihnen?`,
        ...(link === null ? [] : [`Bewertung schreiben: ${link}`])
      ],
      notes: [`Bestellung ${orderNumber}`]
    })
  }
})

/** Asks for reviews, once for an order: the mail is enqueued in the transaction that notes it. */
export const askForReviews = (host: PluginContext, days: number, page: string | undefined) =>
  defineTask({
    slug: "reviews/ask",
    schedule: "10 * * * *",
    everyOrganization: true,
    handler: Effect.fnUntraced(function*() {
      const { db, services } = host
      if (days === 0 || !services.mail.isOn) return { output: { asked: 0 } }
      const due = yield* dueRequests(db, yield* DateTime.nowAsDate, days, perRun)
      const asked = yield* Effect.forEach(due, ({ email, orderId, orderNumber, titles }) => {
        const link = page === undefined ? null : `${page}?order=${encodeURIComponent(orderNumber)}`
        return db.table(requests).insert({ orderId }).pipe(
          Effect.andThen(
            services.mail.send(requestMail, { to: email, data: { orderNumber, titles, link }, key: orderId })
          ),
          db.transaction,
          Effect.as(1),
          // Another run asked meanwhile.
          Effect.catchIf(Schema.is(Conflict), () => Effect.succeed(0))
        )
      })
      return { output: { asked: asked.reduce((sum, one) => sum + one, 0) } }
    })
  })
