import { Effect, Option, Schema } from "effect"
import { type ConditionalPricing, HookRefusal, type PluginContext, Uuid } from "stoa/plugin"
import { bookings, serviceTypes } from "./AppointmentTables.ts"

const Named = Schema.Struct({ appointmentId: Uuid })
const read = Schema.decodeUnknownOption(Named)

/** The appointment that a line of a cart or an order pays for. */
export const appointmentOf = (metadata: unknown): string | undefined =>
  Option.getOrUndefined(Option.map(read(metadata), ({ appointmentId }) => appointmentId))

const refused = new HookRefusal("This appointment is not to be paid.")
const mixed = new HookRefusal("An appointment is ordered alone.")

/**
 * What is agreed of an appointment in place of the catalog's price, for a line with `metadata.appointmentId`. It has to sell what the
 * service is sold as, once, while the payment is awaited, and to be alone: a cancellation gives the whole order back. Two statements
 * for all lines, none where no line names an appointment.
 */
export const appointmentPrices = ({ db }: PluginContext): ConditionalPricing => ({
  concerns: ({ lines }) => lines.some(({ metadata }) => appointmentOf(metadata) !== undefined),
  price: Effect.fnUntraced(function*({ currency, lines }) {
    const named = lines.flatMap(({ metadata }) => appointmentOf(metadata) ?? [])
    if (lines.length > 1) return yield* Effect.fail(mixed)
    const found = yield* db.table(bookings).list({ id: { in: named } })
    const services = yield* db.table(serviceTypes).list({ id: { in: found.map((one) => one.serviceTypeId) } })
    return yield* Effect.forEach(lines, ({ entityId, metadata, quantity, unitPrice }) => {
      const id = appointmentOf(metadata)
      if (id === undefined) return Effect.succeed([])
      const one = found.find((booking) => booking.id === id)
      const service = services.find((type) => type.id === one?.serviceTypeId)
      const isRight = one?.paymentStatus === "pending" && one.currency === currency && service?.entityId === entityId
      return isRight && quantity === 1
        ? Effect.succeed([{ code: "appointment", label: "Appointment", amountPerUnit: one.priceCents - unitPrice }])
        : Effect.fail(refused)
    })
  })
})
