import { DateTime, Effect, Option, Schema } from "effect"
import { about, type Actor, holds, inputOf, invalid, resource } from "stoa/plugin"
import { admin, manage, type Provider, providers, providerServices, routes, serviceTypes } from "./AppointmentTables.ts"

class UnknownZone extends invalid("UnknownZone", "timezone", "timezone must be a time zone, such as Europe/Vienna.") {}

class UnknownService
  extends invalid("UnknownService", "serviceTypeId", "serviceTypeId must be a service of this organization.")
{}

const requireZone = (timezone: string | undefined) =>
  timezone === undefined || Option.isSome(DateTime.zoneMakeNamed(timezone))
    ? Effect.void
    : Effect.fail(new UnknownZone())

const shoppers = { public: "Shoppers choose what they book, and of whom." }
const seesAll = (actor: Actor): boolean => holds(actor, admin) || holds(actor, manage)
/** Others see what can be booked. */
const bookable = {
  columns: ["isActive"],
  seesAll: true,
  isFew: true,
  whereOf: ({ actor }: { readonly actor: Actor }) => Effect.succeed(seesAll(actor) ? {} : { isActive: true })
} as const
/** Addresses and logins of providers are for staff (contract §17.21). */
const providerFor = (actor: Actor, one: Provider): Provider =>
  seesAll(actor) ? one : { ...one, email: null, phone: null, userId: null }

const { name, slug, ...others } = {
  ...inputOf(serviceTypes).fields,
  startStepMinutes: Schema.optional(Schema.NullOr(Schema.Literals([5, 6, 10, 12, 15, 20, 30, 60]))).pipe(
    about("A visit begins every so many minutes from each full hour on; null: visits follow one another.")
  )
}
const NewService = Schema.Struct({ ...others, name, slug })
/** Links to a service and texts in its addresses keep their meaning: its slug stays. */
const ServicePatch = Schema.Struct({ ...others, name: Schema.optional(name) })

/** Services and their providers (contract, plugins §11). */
export const serviceRoutes = [
  ...resource(routes, "/services", serviceTypes, {
    noun: "service",
    read: shoppers,
    write: admin,
    filters: ["isActive", "mode"],
    search: ["name"],
    visible: bookable,
    create: { input: NewService, answer: ({ db, input }) => db.table(serviceTypes).insert(input) },
    patch: {
      description:
        "All but its slug; what the body leaves out stays. 404 without it, 422 for a value that is not right.",
      input: ServicePatch,
      answer: ({ db, input, which }) => db.table(serviceTypes).update(which, input)
    }
  }),
  ...resource(routes, "/providers", providers, {
    noun: "provider",
    read: shoppers,
    write: admin,
    filters: ["isActive"],
    search: ["name"],
    visible: bookable,
    view: {
      success: providers.Row,
      show: (rows, { actor }) => Effect.succeed(rows.map((one) => providerFor(actor, one)))
    },
    create: ({ db, input }) => Effect.andThen(requireZone(input.timezone), db.table(providers).insert(input)),
    patch: ({ db, input, which }) =>
      Effect.andThen(requireZone(input.timezone), db.table(providers).update(which, input))
  }),
  ...resource(routes, "/providers/:id/services", providerServices, {
    noun: "service of a provider",
    of: { table: providers, noun: "provider" },
    rowId: "linkId",
    read: shoppers,
    write: admin,
    list: {
      summary: "List what a provider offers",
      answer: ({ db, page, where }) => db.table(providerServices).page(where, page)
    },
    get: false,
    patch: false,
    create: {
      summary: "Add a service to a provider",
      description: "404 without the provider, 409 when they offer it already, 422 for an unknown service.",
      answer: ({ db, input, parent }) =>
        Effect.gen(function*() {
          // Of another organization it is as unknown as one that is not there.
          const service = yield* db.table(serviceTypes).find(input.serviceTypeId)
          if (service === undefined) return yield* new UnknownService()
          return yield* db.table(providerServices).insert({ ...input, providerId: parent.id })
        })
    },
    remove: { summary: "Remove a service from a provider", description: "404 without it. Appointments stay." }
  })
]
