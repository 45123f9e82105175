import { Effect } from "effect"
import {
  boolean,
  type CurrentActor,
  CustomerId,
  emailKey,
  idOf,
  inputOf,
  invalid,
  normalizedEmail,
  notFound,
  oneOf,
  type PluginCall,
  type RowOf,
  table,
  text
} from "stoa/plugin"
import { type Channel, channels, wantedBy } from "./Channel.ts"

/** Whether a customer wants messages of a category on a channel, and where it reaches them. Without a row: yes. */
export const preferences = table("notification_preferences", {
  customerId: idOf(CustomerId).existing("customer"),
  category: text.default("*").about("Topic; `*`: all that have no row."),
  channel: oneOf(channels).about("Way of the message; in_app is the inbox of the customer."),
  isEnabled: boolean.default(true).about("False: declined."),
  destination: text.nullable.about("Token of a device, or another address than the one in the profile.")
}, {
  unique: [{ columns: ["customerId", "category", "channel"] }],
  counted: false,
  personal: { of: "customerId", onErase: "delete" },
  atMost: [{
    per: "customerId",
    rows: 200,
    refusal: "A customer can have at most 200 preferences. Change one of those, or name the category *."
  }]
})
export type Preference = RowOf<typeof preferences>

/** What a customer said about a category on a channel, the more exact first. */
const saidAbout = (all: ReadonlyArray<Preference>, channel: Channel, category: string) =>
  [category, "*"].flatMap((name) => all.filter((one) => one.channel === channel && one.category === name))

export const isDeclined = (all: ReadonlyArray<Preference>, channel: Channel, category: string): boolean =>
  saidAbout(all, channel, category)[0]?.isEnabled === false

export const destinationOf = (all: ReadonlyArray<Preference>, channel: Channel, category: string): string | null =>
  saidAbout(all, channel, category).find(({ destination }) => destination !== null)?.destination ?? null

export class CustomerNotFound extends notFound("NotifiedCustomer", "Customer not found.") {}

/** The profile of the customer who asks. */
export const ownCustomer = ({ services }: Pick<PluginCall, "services">): Effect.Effect<
  CustomerId,
  CustomerNotFound,
  CurrentActor
> =>
  Effect.flatMap(
    services.customers.ownProfileId,
    (id) => id === null ? Effect.fail(new CustomerNotFound()) : Effect.succeed(id)
  )

/** A preference as it is wished. */
export const Wish = inputOf(preferences, {
  required: ["channel", "isEnabled"],
  optional: ["category", "destination"]
})

class NotOwnAddress extends invalid(
  "NotOwnAddress",
  "destination",
  (words: string) => `destination must be ${words} of the customer's profile. Staff can set another one.`
) {}
class NoDestination
  extends invalid("NoDestination", "destination", (words: string) => `destination must be ${words}.`)
{}

/**
 * A preference with a destination that it may have. Customers name no address that is not theirs: else messages about them
 * reached others. Tokens of devices are free. What is switched off reaches no one, and keeps no destination.
 */
export const destined = <P extends typeof Wish.Type>(
  preference: P,
  own: { readonly email: string | null; readonly phone: string | null } | undefined
): Effect.Effect<P, NoDestination | NotOwnAddress> => {
  const { channel, destination: sent, isEnabled } = preference
  if (!isEnabled) return Effect.succeed({ ...preference, destination: null })
  const destination = sent && channel === "email" ? normalizedEmail(sent) ?? sent : sent
  const wanted = destination ? wantedBy(channel, destination) : null
  if (wanted !== null) return Effect.fail(new NoDestination(wanted))
  const found = { ...preference, ...(destination === undefined ? {} : { destination }) }
  if (!destination || own === undefined || channel === "push") return Effect.succeed(found)
  const [isOwn, words] = channel === "email"
    ? [emailKey(destination) === emailKey(own.email ?? ""), "the e-mail address"]
    : [channel === "sms" && destination === own.phone, "the telephone number"]
  return isOwn ? Effect.succeed(found) : Effect.fail(new NotOwnAddress(words))
}
