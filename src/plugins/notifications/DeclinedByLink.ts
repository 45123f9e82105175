import { Effect } from "effect"
import { apiError, type CustomerId, offsetOf, type PageOf, type PageRequest, type PluginCall } from "stoa/plugin"
import { type Preference, preferences, type Wish } from "./Preferences.ts"

type Call = Pick<PluginCall, "db" | "services">

/** A customer as preferences need them. */
export interface Preferring {
  readonly id: CustomerId
  readonly email: string | null
}

export class DeclinedByReceiver extends apiError(
  "DeclinedByReceiver",
  { status: 409, code: "OPTED_OUT" },
  "The customer declined these mails. Only the customer can accept them again."
) {}

const key = ["customerId", "category", "channel"] as const

const keyOf = ({ category, channel }: Pick<Preference, "category" | "channel">) => `${category} ${channel}`

/** Preferences of a customer, in which mails that were declined by a link of a mail to their address are off. */
const allOf = Effect.fnUntraced(
  function*({ db, services }: Call, { email, id: customerId }: Preferring) {
    const rows = yield* db.table(preferences).list({ customerId })
    const choices = email === null ? [] : yield* services.mail.choicesOf(email)
    const byLink = choices.flatMap(({ addressDigest: _, isDeclined, ...choice }): ReadonlyArray<Preference> =>
      isDeclined ? [{ ...choice, customerId, channel: "email", isEnabled: false, destination: null }] : []
    )
    const off = new Set(byLink.map(keyOf))
    const known = new Set(rows.map(keyOf))
    return [
      ...rows.map((row) => off.has(keyOf(row)) ? { ...row, isEnabled: false, destination: null } : row),
      ...byLink.filter((one) => !known.has(keyOf(one)))
    ]
  }
)

const inOrder = (one: Preference, other: Preference): number => keyOf(one) < keyOf(other) ? -1 : 1

/** A page of them, by category and channel. A customer has at most some hundreds. */
export const preferencePage = Effect.fn("Preferences.page")(
  function*(call: Call, customer: Preferring, page: PageRequest) {
    const all = (yield* allOf(call, customer)).toSorted(inOrder)
    const from = offsetOf(page)
    const items = all.slice(from, from + page.limit)
    return { items, page: page.page, limit: page.limit, total: all.length } satisfies PageOf<Preference>
  }
)

/**
 * Sets a preference. One about e-mail counts for mails of all plugins to the customer's address; what a customer declined
 * by a link is accepted again by the customer alone.
 */
export const setPreference = Effect.fn("Preferences.set")(
  function*({ db, services: { mail } }: Call, customer: Preferring, wish: typeof Wish.Type, isOwn: boolean) {
    const { category = "*", channel, isEnabled } = wish
    const { row } = yield* db.table(preferences).upsert({ ...wish, category, customerId: customer.id }, key)
    if (channel !== "email" || customer.email === null) return row
    const about = { to: customer.email, category }
    if (!isEnabled) yield* mail.decline(about)
    else if (isOwn) yield* mail.accept(about)
    else if ((yield* mail.declined([about])).length > 0) return yield* new DeclinedByReceiver()
    return row
  },
  (work, { db }) => db.transaction(work)
)
