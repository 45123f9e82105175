import { appointments } from "../../src/plugins/appointments/index.ts"
import { scheduledOrders } from "../../src/plugins/scheduled-orders/index.ts"
import { asAdmin, asCustomer } from "../support/TestApp.ts"
import { few } from "./ManyRows.ts"
import { asked, last, one, pluginLists, rare } from "./PluginLists.ts"

const search = "a part of a text can be in any row"
const range = "any number of rows can be between two moments"

const customer = asCustomer("buyer")
const buyer = {
  ...customer,
  permissions: [...customer.permissions ?? [], "scheduled-orders:read", "appointments:book"]
}

/** What is repeated is for this moment, each other row for a second before. */
const now = "2030-01-01T00:00:00.000Z"
const inAnHour = "2030-01-01T01:00:00.000Z"
const ranges = ["from=2029-12-31T19:00:00.000Z", "to=2029-12-31T19:00:00.000Z"]

const hours = { startTime: "09:00", endTime: "10:00" }
const ofBuyer = last("customer_id", { value: "buyer", others: "'login ' || n" })

pluginLists("lists of scheduled orders and appointments", {
  plugins: [scheduledOrders(), appointments()],
  before: [`insert into customers (id, organization_id, user_id) values ('${one}', 'org_default', 'buyer')`],
  samples: {
    scheduled_orders: { items: "[]", scheduledFor: now, currency: "USD" },
    appointment_bookings: {
      startTime: now,
      endTime: inAnHour,
      blockedFrom: now,
      blockedUntil: inAnHour,
      // Only open ones must not overlap.
      status: "completed",
      currency: "USD"
    },
    appointment_weekly_availability: hours,
    appointment_breaks: hours,
    appointment_availability_overrides: { date: "2030-01-01" },
    appointment_waiting_list: { earliest: now, latest: now, status: "expired" }
  },
  growing: {
    scheduled_orders: { columns: { ...last("customer_id"), ...last("cart_id"), ...rare("status", "cancelled") } },
    appointment_service_types: { columns: { ...rare("is_active", "false"), ...rare("mode", "online") } },
    appointment_providers: { columns: rare("is_active", "false") },
    appointment_provider_services: { columns: few("provider_id") },
    appointment_weekly_availability: { columns: few("provider_id") },
    appointment_breaks: { columns: few("provider_id") },
    appointment_availability_overrides: { columns: { ...few("provider_id"), date: "t.date + n" } },
    appointment_bookings: {
      columns: { ...last("provider_id"), ...last("service_type_id"), ...ofBuyer, ...rare("status", "no_show") }
    },
    appointment_waiting_list: {
      columns: { ...last("service_type_id"), ...last("provider_id"), ...ofBuyer, ...rare("status", "booked") }
    }
  },
  asks: (made) => {
    const provider = made("appointment_providers")
    const hoursOf = (what: string) => `/api/appointments/availability/${provider}/${what}`
    return [
      ...asked(asAdmin, {
        "/api/scheduled-orders": [
          "status=scheduled",
          "status=cancelled",
          `customerId=${one}`,
          `cartId=${one}`,
          ...ranges
        ],
        "/api/appointments/services": ["isActive=true", "isActive=false", "mode=in_person", "mode=online"],
        "/api/appointments/providers": ["isActive=true", "isActive=false"],
        [`/api/appointments/providers/${provider}/services`]: [],
        [hoursOf("weekly")]: [],
        [hoursOf("breaks")]: [],
        [hoursOf("overrides")]: ["from=2030-01-02", "to=2100-01-01"],
        "/api/appointments/bookings": [
          `providerId=${one}`,
          `serviceTypeId=${one}`,
          "customerId=buyer",
          "status=completed",
          "status=no_show",
          ...ranges
        ],
        "/api/appointments/waiting-list": [
          "status=expired",
          "status=booked",
          `serviceTypeId=${one}`,
          `providerId=${one}`
        ]
      }),
      ...asked(buyer, {
        "/api/scheduled-orders": [],
        "/api/appointments/my-bookings": [
          "status=no_show",
          "from=2029-12-01T00:00:00.000Z",
          "to=2030-01-01T00:00:00.000Z"
        ],
        "/api/appointments/waiting-list": []
      })
    ]
  },
  totals: {
    "/api/scheduled-orders?from": range,
    "/api/scheduled-orders?to": range,
    "/api/appointments/bookings?from": range,
    "/api/appointments/bookings?to": range
  },
  exceptions: {
    "/api/appointments/services?search": search,
    "/api/appointments/providers?search": search
  }
})
