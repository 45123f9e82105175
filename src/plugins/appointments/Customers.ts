import { Effect, Schema } from "effect"
import {
  type Actor,
  emailKey,
  forbidden,
  holds,
  invalid,
  isAnonymous,
  isSignedIn,
  type Visible,
  type Where
} from "stoa/plugin"
import { isCustomer } from "./AppointmentsRepo.ts"
import { type bookings, manage, providers, type Tools } from "./AppointmentTables.ts"

const book = "appointments:book"

/** Customers who have signed in, and staff. */
export const booker = {
  admits: {
    rule: (actor: Actor) => !isAnonymous(actor) && (holds(actor, book) || holds(actor, manage)),
    missing: book
  }
}

const readOwn = "appointments:read:own"

/** Staff, and providers by their login. */
export const reader = {
  admits: {
    rule: (actor: Actor) => !isAnonymous(actor) && (holds(actor, manage) || holds(actor, readOwn)),
    missing: manage
  }
}

/** Providers that an actor sees the appointments and the calendar of: all for staff, else those with their login. */
export const ownProviders = (actor: Actor): Where<typeof providers> =>
  holds(actor, manage) ? {} : { userId: { in: isSignedIn(actor) ? [actor.userId] : [] } }

const Asked = Schema.Struct({ providerId: Schema.String })

/** Appointments of these providers; of one that is asked for, if it is one of them. */
export const ofOwnProviders: Visible<typeof bookings> = {
  columns: ["providerId"],
  seesAll: true,
  isFew: true,
  whereOf: ({ actor, db, query }) =>
    holds(actor, manage) ? Effect.succeed({}) : Effect.map(
      db.table(providers).list(ownProviders(actor)),
      (own) => ({
        providerId: { in: own.map(({ id }) => id).filter((id) => !Schema.is(Asked)(query) || query.providerId === id) }
      })
    )
}

class NotForOthers extends forbidden("NotForOthers", `Permission '${manage}' is required to book for others.`) {}
class UnknownCustomer extends invalid("UnknownCustomer", "customerId", "customerId must be the login of a customer.") {}
class NotOwnAddress extends invalid(
  "NotOwnAddress",
  "customerEmail",
  "customerEmail must be the e-mail address of your login. Staff can book for another one."
) {}

/** Who books: the id of a login, else of an API key. */
export const customerOf = ({ keyId, name, userId }: Actor): string => userId ?? keyId ?? name

/** Staff may name the customer, who has to exist; 403 for others. */
export const namedCustomer = Effect.fnUntraced(function*({ db }: Tools, actor: Actor, named = customerOf(actor)) {
  if (named === customerOf(actor)) return named
  if (!holds(actor, manage)) return yield* new NotForOthers()
  return (yield* db.use(isCustomer)(named)) ? named : yield* new UnknownCustomer()
})

/** Refuses (422) a customer's address that their login does not have. */
export const requireOwnEmail = (actor: Actor, email: string) =>
  holds(actor, manage) || emailKey(email) === emailKey(actor.email ?? "")
    ? Effect.void
    : Effect.fail(new NotOwnAddress())
