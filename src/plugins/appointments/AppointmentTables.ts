import {
  amount,
  boolean,
  childOf,
  date,
  email,
  EntityId,
  group,
  idOf,
  integerBetween,
  json,
  longText,
  oneOf,
  OrderId,
  type PluginCall,
  type RowOf,
  table,
  text,
  timeOfDay,
  timestamp,
  uuid
} from "stoa/plugin"

/** What can be booked (contract, plugins §11). Prices are minor units. */
export const serviceTypes = table("appointment_service_types", {
  name: text,
  slug: text.unique(),
  description: longText.nullable,
  durationMinutes: integerBetween(5, 1_440).default(30).about("Length of an appointment, without its buffers."),
  startStepMinutes: integerBetween(5, 60).nullable.about(
    "A visit begins every so many minutes from each full hour on, local to the provider; null: visits follow one another."
  ),
  priceCents: amount.default(0).about("Price of one appointment; 0 for a free one."),
  currency: text.default("USD"),
  mode: oneOf(["in_person", "online", "hybrid"]).default("in_person").about("Place of the appointment."),
  bufferBeforeMinutes: integerBetween(0, 1_440).default(0).about("Minutes that the provider needs before."),
  bufferAfterMinutes: integerBetween(0, 1_440).default(0).about("Minutes that the provider needs after."),
  maxAdvanceDays: integerBetween(1, 730).default(60).about("How many days ahead it can be booked."),
  minNoticeMins: integerBetween(0, 525_600).default(60).about(
    "How many minutes before its start it can still be booked."
  ),
  isActive: boolean.default(true),
  /** What it is sold as in the catalog, for payments in advance. */
  entityId: idOf(EntityId).existing("entity").nullable,
  metadata: json.default({})
}, {
  checks: {
    price: "price_cents >= 0",
    currency: "currency ~ '^[A-Z]{3}$'",
    start_step: "60 % start_step_minutes = 0"
  }
})
export type ServiceType = RowOf<typeof serviceTypes>

/** Who can be booked. Hours of a provider are times of `timezone`. */
export const providers = table("appointment_providers", {
  userId: text.nullable.about("Login by which the provider sees their appointments (`appointments:read:own`)."),
  name: text,
  bio: longText.nullable.forPeople.about("Text about the provider for shoppers."),
  email: email.nullable,
  phone: text.nullable,
  timezone: text.default("UTC").about("IANA zone of weekly hours."),
  isActive: boolean.default(true),
  metadata: json.default({})
})
export type Provider = RowOf<typeof providers>

/** That a provider offers a service, in a time and for a price of their choice. */
export const providerServices = childOf(providers, "providerId", "appointment_provider_services", {
  providerId: uuid.references(providers),
  serviceTypeId: uuid.references(serviceTypes),
  customDurationMinutes: integerBetween(5, 1_440).nullable.about(
    "Duration with this provider; null: that of the service."
  ),
  customPriceCents: amount.nullable
}, { unique: [{ columns: ["providerId", "serviceTypeId"] }], checks: { price: "custom_price_cents >= 0" } })

const dayOfWeek = integerBetween(0, 6).about("Day of the week: 0 is Sunday, 6 Saturday.")

const hours = {
  startTime: timeOfDay.about("Begin, in the zone of the provider."),
  endTime: timeOfDay.about("End, in the zone of the provider; 00:00 is the end of the day.")
}
const inOrder = "start_time < end_time or end_time = '00:00'"

export const weeklyHours = childOf(providers, "providerId", "appointment_weekly_availability", {
  providerId: uuid.references(providers),
  dayOfWeek,
  ...hours
}, { checks: { order: inOrder } })

export const breaks = childOf(providers, "providerId", "appointment_breaks", {
  providerId: uuid.references(providers),
  dayOfWeek: dayOfWeek.nullable.about("Day of the week: 0 is Sunday, 6 Saturday; null: every day."),
  ...hours,
  label: text.nullable.about("Name of the break.")
}, { strict: true, checks: { order: inOrder } })

/** Hours of one day in place of the weekly ones. Without times an available day has the weekly ones. */
export const overrides = childOf(providers, "providerId", "appointment_availability_overrides", {
  providerId: uuid.references(providers),
  date: date.about("Day, in the zone of the provider."),
  isAvailable: boolean.default(true).about("False for a day off, true for other hours than usual."),
  startTime: timeOfDay.nullable.about("Begin, in the zone of the provider; null: the usual hours."),
  endTime: timeOfDay.nullable.about("End, in the zone of the provider; null: the usual hours."),
  reason: text.nullable
}, {
  strict: true,
  unique: [{ columns: ["providerId", "date"] }],
  checks: { order: `(start_time is null) = (end_time is null) and (start_time is null or ${inOrder})` }
})

/** Appointments. From `blockedFrom` to `blockedUntil`, buffers included, the provider has no other one. */
export const bookings = table("appointment_bookings", {
  providerId: uuid.references(providers, "restrict"),
  serviceTypeId: uuid.references(serviceTypes, "restrict"),
  customerId: text.about("Login of the customer."),
  customerName: text.about("Name to call the customer by."),
  customerEmail: email,
  customerPhone: text.nullable,
  startTime: timestamp.about("Begin of the appointment, without buffers."),
  endTime: timestamp.about("End of the appointment, without buffers."),
  blockedFrom: timestamp.about("Begin of the time that is taken, with the buffer."),
  blockedUntil: timestamp.about("End of the time that is taken, with the buffer."),
  status: oneOf(["provisional", "confirmed", "completed", "no_show", "cancelled"]).default("provisional").about(
    "A provisional one waits for a payment or for the provider, and is cancelled at `payBy` or `autoCancelAt`."
  ),
  paymentMethod: oneOf(["card", "cash", "invoice"]).about("How the customer pays."),
  priceCents: amount.about("Price of one appointment; 0 for a free one."),
  currency: text,
  paymentStatus: oneOf(["none", "pending", "paid", "failed", "refunded"]).default("none").about(
    "State of a payment in advance; none: it is free, or paid at the visit."
  ),
  payBy: timestamp.nullable.about("When it is cancelled unless it was paid."),
  /** The order that pays for it. */
  orderId: idOf(OrderId).nullable,
  notes: longText.nullable,
  cancellationReason: text.nullable.about("Why it was cancelled."),
  rescheduledFromId: uuid.nullable.about("Id of the booking that this one replaces."),
  remindAt: timestamp.nullable.about("When the next reminder is sent; null: none is to come."),
  autoCancelAt: timestamp.nullable.about("When it is cancelled unless it was confirmed."),
  metadata: json.default({})
}, {
  excluding: [{
    columns: ["providerId"],
    range: ["blockedFrom", "blockedUntil"],
    where: "status in ('provisional', 'confirmed')"
  }],
  indexes: [
    { columns: ["remindAt"], where: "remind_at is not null" },
    { columns: ["autoCancelAt"], where: "auto_cancel_at is not null" },
    { columns: ["payBy"], where: "payment_status = 'pending'" },
    { columns: ["orderId"], where: "order_id is not null" }
  ],
  // Without a time for it no reminder is sent.
  personal: {
    of: { user: "customerId" },
    onErase: [
      "customerName",
      "customerEmail",
      "customerPhone",
      "notes",
      "cancellationReason",
      "metadata",
      "remindAt"
    ],
    keeps: ["currency"]
  },
  atMost: [{
    per: "customerId",
    rows: 20,
    where: "status in ('provisional', 'confirmed') and end_time > now()",
    except: "appointments:manage",
    refusal: "You can have at most 20 appointments to come. Cancel one first."
  }],
  checks: {
    order: "start_time < end_time and blocked_from <= start_time and end_time <= blocked_until"
  }
})
export type Booking = RowOf<typeof bookings>

/** What the rules need of a request or a job. */
export type Tools = Pick<PluginCall, "db" | "services">

export const routes = group("Appointments", "/appointments")
export const admin = "appointments:admin"
export const manage = "appointments:manage"
/** All rows of a list. */
