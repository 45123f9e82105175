import { type AnalyticsModel, modelOf, pluginWith } from "stoa/plugin"
import {
  bookings,
  breaks,
  overrides,
  providers,
  providerServices,
  serviceTypes,
  weeklyHours
} from "./AppointmentTables.ts"
import { bookingRoutes, ownBookingRoutes } from "./BookingRoutes.ts"
import { autoCancel, cancelOfErased } from "./Bookings.ts"
import { calendarRoutes, calendars } from "./CalendarFeed.ts"
import { hoursRoutes } from "./HoursRoutes.ts"
import { AppointmentSettings, notices, reminders } from "./Notices.ts"
import { paymentEvents, unpaid } from "./Payments.ts"
import { appointmentPrices } from "./Prices.ts"
import { serviceRoutes } from "./ServiceRoutes.ts"
import { expiry, waiting, waitingListRoutes } from "./WaitingList.ts"

const status = (word: string) => ({ sql: `appointment_bookings.status = '${word}'` })

/** Appointments by service, provider and state; amounts are those of appointments that were not cancelled. */
const model: AnalyticsModel = {
  ...modelOf(bookings, {
    name: "AppointmentBookings",
    dims: [
      "id",
      "providerId",
      "serviceTypeId",
      "customerId",
      "status",
      "paymentMethod",
      "currency",
      "startTime",
      "createdAt"
    ]
  }),
  measures: {
    count: { type: "count" },
    revenue: {
      type: "sum",
      sql: "appointment_bookings.price_cents",
      filter: "appointment_bookings.status = 'completed'"
    },
    averagePrice: {
      type: "avg",
      sql: "appointment_bookings.price_cents",
      filter: "appointment_bookings.status <> 'cancelled'"
    }
  },
  segments: { completed: status("completed"), cancelled: status("cancelled"), noShow: status("no_show") }
}

/** Appointments of services with providers (contract, plugins §11): `plugins: [appointments({ … })]`. */
export const appointments = pluginWith("appointments", AppointmentSettings, (settings) => ({
  version: "1.0.0",
  examples: new URL("./examples.json", import.meta.url),
  permissions: [
    { scope: "appointments:book", description: "Book appointments and wait for them", roles: ["customer"] },
    { scope: "appointments:manage", description: "See and change all appointments, hours and calendars" },
    {
      scope: "appointments:read:own",
      description: "See the appointments and the calendar of the provider that one is"
    },
    { scope: "appointments:admin", description: "Write services and providers" }
  ],
  schema: () => ({
    serviceTypes,
    providers,
    providerServices,
    weeklyHours,
    breaks,
    overrides,
    bookings,
    waiting,
    calendars
  }),
  events: ["appointment.confirmed", "appointment.completed", "appointment.no_show", "appointment.cancelled"],
  mailTemplates: Object.values(notices),
  routes: (context) => [
    ...serviceRoutes,
    ...hoursRoutes,
    ...bookingRoutes(settings),
    ...ownBookingRoutes(settings),
    ...waitingListRoutes(settings),
    ...calendarRoutes(context)
  ],
  onEvents: { ...paymentEvents(settings), "customers.delete": cancelOfErased(settings) },
  linePricing: appointmentPrices,
  tasks: (
    context
  ) => [
    unpaid(context, settings),
    reminders(context, settings),
    autoCancel(context, settings),
    expiry(context, settings)
  ],
  analyticsModels: () => [model]
}))
