import { notifications } from "../../src/plugins/notifications/index.ts"
import { reviews } from "../../src/plugins/reviews/index.ts"
import { asAdmin, asCustomer } from "../support/TestApp.ts"
import { few, ofOne, uuid } from "./ManyRows.ts"
import { asked, last, one, pluginLists, rare, rows } from "./PluginLists.ts"

const search = "a part of a text can be in any row"
const range = "any number of rows can be between two moments"

const customer = asCustomer("buyer")
const buyer = { ...customer, permissions: [...customer.permissions ?? [], "reviews:write", "notifications:write"] }

/** The repeated review is of this moment, each other one a second older. Moderators see the oldest first, others the newest. */
const now = "2030-01-01T00:00:00.000Z"
const fourHoursBefore = "2029-12-31T20:00:00.000Z"

const other = "22222222-2222-4222-8222-222222222222"
/** What moderators are asked for has the newest rows, which they see last, and what customers are asked for the oldest. */
const atBothEnds = (column: string, turn = 0) => {
  const [from, to] = [turn * ofOne, (turn + 1) * ofOne]
  return {
    [column]: `case when n > ${from} and n <= ${to} then '${other}'
      when n > ${rows - to} and n <= ${rows - from} then '${one}' else ${uuid} end`
  }
}

/** The oldest reviews: those that wait for moderators come after them in both orders. */
const published = `n > ${rows - 2 * ofOne}`

pluginLists("lists of reviews and messages", {
  plugins: [reviews(), notifications()],
  before: [
    `insert into customers (id, organization_id, user_id) values ('${one}', 'org_default', 'buyer')`,
    `insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
      values ('${one}', 'org_default', 'product', 'thing', 'active', true)`
  ],
  samples: {
    customer_reviews: { entityId: one, customerId: one },
    notification_templates: { channel: "email" },
    notification_log: { channel: "email", event: "orders.create" },
    notification_preferences: { customerId: one },
    notification_print_jobs: { printerId: "kitchen" }
  },
  growing: {
    customer_reviews: {
      columns: {
        ...atBothEnds("entity_id"),
        ...atBothEnds("customer_id", 1),
        is_published: published,
        status: `case when ${published} then 'approved' else t.status end`,
        rating: `case when n <= ${ofOne} then 5 else t.rating end`,
        is_verified: `n <= ${ofOne}`,
        created_at: `timestamptz '${now}' - n * interval '1 second'`
      }
    },
    customer_review_photos: { columns: { review_id: uuid } },
    notification_templates: {
      columns: {
        event: "'event ' || n",
        ...rare("channel", "sms"),
        ...rare("locale", "de"),
        ...rare("category", "orders"),
        ...rare("is_active", "false")
      }
    },
    notification_preferences: {
      columns: { ...few("customer_id"), category: "'category ' || n", channel: "t.channel" }
    },
    notification_log: {
      columns: {
        ...rare("channel", "in_app"),
        ...rare("event", "orders.cancel"),
        ...rare("status", "delivered"),
        ...last("customer_id")
      }
    },
    notification_print_jobs: {
      columns: { ...rare("status", "failed"), ...rare("printer_id", "bar"), ...rare("type", "kot") }
    }
  },
  asks: () => [
    ...asked(asAdmin, {
      "/api/reviews": [
        "rating=1",
        "rating=5",
        "isVerified=false",
        "isVerified=true",
        "status=all",
        "status=pending",
        "status=approved",
        `entityId=${other}`,
        `customerId=${other}`,
        `from=${fourHoursBefore}`,
        `to=${fourHoursBefore}`
      ],
      [`/api/reviews/entity/${one}`]: [
        "rating=1",
        "isVerified=false",
        "sort=newest",
        "sort=helpful",
        "sort=highest",
        "sort=lowest"
      ],
      "/api/notifications/log": [
        "channel=email",
        "channel=in_app",
        "event=orders.create",
        "event=orders.cancel",
        "status=queued",
        "status=delivered",
        `customerId=${one}`
      ],
      "/api/notifications/templates": [
        "event=event%201",
        "channel=email",
        "channel=sms",
        "locale=en",
        "locale=de",
        "category=general",
        "category=orders",
        "isActive=true",
        "isActive=false"
      ],
      "/api/notifications/print": [
        "status=queued",
        "status=failed",
        "printerId=kitchen",
        "printerId=bar",
        "type=receipt",
        "type=kot"
      ],
      [`/api/notifications/preferences/${one}`]: []
    }),
    ...asked(buyer, {
      "/api/reviews/mine": [],
      "/api/me/notifications": ["unread=true", "unread=false"],
      "/api/me/notification-preferences": []
    })
  ],
  totals: {
    "/api/reviews?from": range,
    "/api/reviews?to": range
  },
  exceptions: {
    "/api/reviews?search": search,
    "/api/notifications/templates?event": "an event has one of each channel and language"
  }
})
